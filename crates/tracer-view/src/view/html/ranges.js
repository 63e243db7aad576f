// Tables whose rows have times show the part of a chosen range: what has none in it is hidden, and of what no step tells stands a dot.
(function () {
  "use strict";
  const MANY = 1e15;

  function follow(shape, data) {
    const body = shape.querySelector("tbody"), heading = shape.querySelector("h3");
    const rows = Array.from(body.rows), known = new Map(data.columns.filter(({ at }) => at !== null).map((column) => [column.at, column]));
    const before = rows.map((row) => Array.from(row.cells, (cell) => ({ text: cell.textContent, value: cell.dataset.v })));
    const fixed = new Set(data.labels), sums = data.columns.map((column, at) => ({ column, at })).filter(({ column }) => column.gather === "sum");
    // Rows are ranked by what the table ranks them by: its time or size, else its number. The mean of looks says most.
    const rank = Math.max(0, data.columns.findIndex(({ gather }) => gather === "mean"), sums.length ? sums[sums.length - 1].at : 0);
    const badge = document.createElement("span");
    badge.className = "still";
    badge.hidden = true;
    heading.append(" ", badge);

    // The amounts of a list of steps within a range; nothing where there is none.
    function gathered(list, from, to) {
      const out = data.columns.map(() => 0), wide = data.columns.length + 1;
      let step = 0, any = false;
      for (let at = 0; at < list.length; at += wide) {
        step += list[at];
        if (step * data.step < from || step * data.step >= to) continue;
        any = true;
        data.columns.forEach(({ gather }, index) => {
          const value = list[at + 1 + index];
          out[index] = gather === "max" ? Math.max(out[index], value) : out[index] + value;
        });
      }
      return any ? out : null;
    }

    function show() {
      const range = page.range();
      badge.hidden = range === null;
      if (range === null) {
        rows.forEach((row, at) => {
          row.classList.remove("none");
          Array.from(row.cells).forEach((cell, index) => put(cell, before[at][index].text, before[at][index].value));
        });
        body.append(...rows);
        return;
      }
      const weight = data.weights.reduce((sum, [step, value]) => sum + (step * data.step >= range.from && step * data.step < range.to ? value : 0), 0);
      const all = rows.map((row, at) => ({ row, at, own: gathered(data.rows[at], range.from, range.to) }));
      const beyond = data.beyond.map((list) => gathered(list, range.from, range.to)).filter(Boolean);
      const total = all.concat(beyond.map((own) => ({ own }))).reduce((sum, { own }) => sum + (own ? own[rank] : 0), 0);
      for (const { row, own } of all) {
        row.classList.toggle("none", own === null);
        Array.from(row.cells).forEach((cell, index) => {
          if (fixed.has(index) || own === null) return;
          const column = known.get(index);
          if (column) {
            const amount = own[data.columns.indexOf(column)], value = column.gather === "mean" ? amount / (weight || 1) : amount;
            put(cell, page.amount(value, column.unit), value);
          } else if (index === data.share && total > 0) {
            put(cell, page.amount(100 * own[rank] / total, "percent"), 100 * own[rank] / total);
          } else {
            put(cell, "·", undefined);
          }
        });
      }
      all.sort((a, b) => (b.own ? b.own[rank] : -MANY) - (a.own ? a.own[rank] : -MANY) || a.at - b.at);
      body.append(...all.map(({ row }) => row));
      for (const th of shape.querySelectorAll("th")) th.removeAttribute("aria-sort");
      const notes = [page.span(range)];
      if (!all.some(({ own }) => own)) notes.push("nothing");
      if (beyond.length) notes.push("without " + beyond.length.toLocaleString("en") + " rows that are not shown");
      if (data.left) notes.push("of " + data.left.toLocaleString("en") + " amounts no time is kept");
      badge.textContent = notes.join(", ");
    }

    function put(cell, text, value) {
      if (cell.textContent !== text) cell.textContent = text;
      if (value === undefined) delete cell.dataset.v; else cell.dataset.v = value;
    }
    page.listen("range", show);
  }

  for (const holder of document.querySelectorAll(".table-steps")) follow(holder.closest(".shape"), JSON.parse(holder.textContent));
})();
