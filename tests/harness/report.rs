//! Reads jtrace's JSON report as any other program would: by its documented keys, not by jtrace's own types.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// A row of a table, by the keys of the columns.
pub type Row = BTreeMap<String, Value>;

/// Reads JSON. This goes through a function that is compiled with its library, which is optimised in builds for tests, too; what is generic is
/// compiled with who calls it.
///
/// # Errors
/// It is none.
pub fn json(text: &[u8]) -> Result<Value> {
    let parsed = std::str::from_utf8(text).map_err(anyhow::Error::from).and_then(|text| Ok(text.parse()?));
    parsed.with_context(|| format!("no JSON: {}", String::from_utf8_lossy(text)))
}

/// A parsed report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report(pub Value);

impl Report {
    /// Parses a report and checks what holds for every one: the schema, and that nothing is unaccounted for.
    ///
    /// # Errors
    /// It is not a report, or emitted = delivered + lost does not hold for every site and their sum.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let value = self::json(json)?;
        ensure!(value["schema"] == "jtrace-report/1", "another schema: {}", value["schema"]);
        let report = Self(value);
        report.check_completeness()?;
        Ok(report)
    }

    fn check_completeness(&self) -> Result<()> {
        let mut sums = [0; 3];
        let all = &self.0["completeness"];
        for site in all["sites"].as_array().context("no sites")? {
            let [emitted, delivered, lost] = counters(site)?;
            ensure!(emitted == delivered + lost, "emitted = delivered + lost does not hold for {site}");
            let hits = number(site, "hits")?;
            // What was refused is named only where something was.
            let filtered = number(site, "filtered")? + site["refused"].as_u64().unwrap_or(0);
            // What the kernel counts itself is neither sent nor filtered; no other lens does that.
            let counts = ["methods", "calls", "alloc", "jni"].iter().any(|lens| site["lens"] == *lens);
            let accounted = if counts { hits >= filtered + emitted } else { hits == filtered + emitted };
            ensure!(accounted, "hits = filtered + emitted does not hold for {site}");
            for (sum, count) in sums.iter_mut().zip([emitted, delivered, lost]) {
                *sum += count;
            }
        }
        ensure!(sums == counters(all)?, "the sites' counters {sums:?} do not add up to {:?}", counters(all)?);
        Ok(())
    }

    /// A member of `completeness`.
    ///
    /// # Errors
    /// It is not there.
    pub fn completeness(&self, key: &str) -> Result<u64> {
        number(&self.0["completeness"], key)
    }

    /// # Errors
    /// Events or marks were lost; says at which sites, of how many.
    pub fn nothing_lost(&self) -> Result<()> {
        let lost: Vec<String> = self
            .sites("")
            .iter()
            .filter(|site| site["lost"] != 0)
            .map(|site| format!("{}: {} of {} ({} hits)", site["probe"], site["lost"], site["emitted"], site["hits"]))
            .collect();
        let whole = &self.0["completeness"];
        ensure!(whole["lost"] == 0, "lost: {}; {:?}; span {}", lost.join(", "), self.missing(), self.0["span"]);
        Ok(())
    }

    /// Absences of all threads of whose ends the kernel did not tell.
    ///
    /// # Errors
    /// The session did not watch switches.
    pub fn untraced_absences(&self) -> Result<u64> {
        let site = *self.sites("sched:sched_switch").first().context("no site of switches")?;
        Ok(site["unreadable"].as_u64().unwrap_or(0))
    }

    /// The sites whose probe's name contains `name`.
    pub fn sites(&self, name: &str) -> Vec<&Value> {
        let sites = self.0["completeness"]["sites"].as_array().map(Vec::as_slice).unwrap_or_default();
        sites.iter().filter(|site| site["probe"].as_str().is_some_and(|probe| probe.contains(name))).collect()
    }

    /// The sentences about what is missing.
    pub fn missing(&self) -> Vec<&str> {
        self.0["completeness"]["missing"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A section.
    ///
    /// # Errors
    /// It is not there.
    pub fn section(&self, id: &str) -> Result<&Value> {
        let mut sections = self.0["sections"].as_array().into_iter().flatten();
        sections.find(|section| section["id"] == id).with_context(|| format!("no section {id}"))
    }

    /// A whole number of a section's summary.
    ///
    /// # Errors
    /// It is not there.
    pub fn summary(&self, section: &str, key: &str) -> Result<u64> {
        number(&self.section(section)?["summary"], key).with_context(|| format!("in the summary of {section}"))
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// It is not there, or a row has another number of cells than the table has columns.
    pub fn table(&self, section: &str, id: &str) -> Result<Vec<Row>> {
        let mut shapes = self.section(section)?["shapes"].as_array().into_iter().flatten();
        let table = shapes
            .find(|shape| shape["kind"] == "table" && shape["id"] == id)
            .with_context(|| format!("no table {id} in {section}"))?;
        let columns = table["columns"].as_array().context("no columns")?;
        let keys: Vec<&str> = columns.iter().filter_map(|column| column["key"].as_str()).collect();
        let rows = table["rows"].as_array().context("no rows")?;
        rows.iter()
            .map(|row| {
                let cells = row.as_array().context("a row is not a list")?;
                ensure!(cells.len() == keys.len(), "{} cells in {} columns", cells.len(), keys.len());
                Ok(keys.iter().map(|key| (*key).to_owned()).zip(cells.iter().cloned()).collect())
            })
            .collect()
    }

    /// Every table of a section, by its id.
    ///
    /// # Errors
    /// As [`Self::table`].
    pub fn tables(&self, section: &str) -> Result<BTreeMap<String, Vec<Row>>> {
        let shapes = self.section(section)?["shapes"].as_array().context("no shapes")?;
        let tables = shapes.iter().filter(|shape| shape["kind"] == "table").filter_map(|shape| shape["id"].as_str());
        tables.map(|id| Ok((id.to_owned(), self.table(section, id)?))).collect()
    }

    /// Every text in the rows of a section's tables.
    ///
    /// # Errors
    /// The section is not there.
    pub fn texts(&self, section: &str) -> Result<Vec<String>> {
        let tables = self.tables(section)?;
        let cells = tables.values().flatten().flat_map(BTreeMap::values);
        Ok(cells.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Why the session ended.
    pub fn end(&self) -> &str {
        self.0["span"]["end"].as_str().unwrap_or_default()
    }

    /// A member of `target`.
    pub fn target(&self, key: &str) -> &Value {
        &self.0["target"][key]
    }

    /// The ids of the findings, worst first.
    pub fn findings(&self) -> Vec<&str> {
        self.of_findings("id")
    }

    /// What its findings say, in their order.
    pub fn titles(&self) -> Vec<&str> {
        self.of_findings("title")
    }

    fn of_findings(&self, key: &str) -> Vec<&str> {
        self.0["findings"].as_array().into_iter().flatten().filter_map(|finding| finding[key].as_str()).collect()
    }
}

/// A whole number of a row.
///
/// # Errors
/// It is not there.
pub fn cell(row: &Row, key: &str) -> Result<u64> {
    row.get(key).and_then(Value::as_u64).with_context(|| format!("no number {key} in {row:?}"))
}

fn counters(of: &Value) -> Result<[u64; 3]> {
    Ok([number(of, "emitted")?, number(of, "delivered")?, number(of, "lost")?])
}

fn number(of: &Value, key: &str) -> Result<u64> {
    of[key].as_u64().with_context(|| format!("no whole number `{key}`"))
}
