// Tables: sorted by the column whose heading is clicked or entered, and filtered by the search box, as findings are.
(function () {
  "use strict";
  document.querySelectorAll("th").forEach((th) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener("click", () => sort(th));
  });

  // A second click turns the direction; what has no value comes last.
  function sort(th) {
    const table = th.closest("table"), body = table.tBodies[0], at = th.cellIndex;
    const down = th.getAttribute("aria-sort") !== "descending", sign = down ? -1 : 1;
    for (const other of th.parentElement.cells) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[at].dataset.v;
    const rows = Array.from(body.rows).sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === undefined || y === undefined) {
        if (x === undefined && y === undefined && !th.classList.contains("n")) {
          const s = a.cells[at].textContent, t = b.cells[at].textContent;
          return (s < t ? -1 : s > t ? 1 : 0) * sign;
        }
        return (x === undefined) - (y === undefined);
      }
      return (x - y) * sign;
    });
    body.append(...rows);
    table.dispatchEvent(new Event("sorted", { bubbles: true }));
  }

  const MARKED = 2000;
  const box = document.getElementById("search"), about = document.getElementById("search-about");
  const rows = Array.from(document.querySelectorAll(".shape:not(.flamed) tbody tr"), (row) => ({ row, text: row.textContent }));
  const findings = Array.from(document.querySelectorAll(".finding"), (row) => ({ row, text: row.textContent }));
  const shapes = Array.from(document.querySelectorAll(".shape:not(.flamed)")).filter((shape) => shape.querySelector("tbody tr"));
  const graphs = Array.from(document.querySelectorAll(".flamed"));
  const lenses = Array.from(document.querySelectorAll(".lens"));

  const plural = (count, one) => count.toLocaleString("en") + " " + one + (count === 1 ? "" : "s");

  function filter() {
    const pattern = page.pattern(), wrong = page.text() !== "" && pattern === null;
    box.classList.toggle("flame-bad", wrong);
    const keep = (list) => {
      let count = 0;
      for (const { row, text } of list) {
        const is = pattern === null || pattern.test(text);
        row.hidden = !is;
        count += is ? 1 : 0;
      }
      return count;
    };
    const [found, worst] = [keep(rows), keep(findings)];
    // What is folded away is found, too.
    for (const { row } of findings) row.open = pattern === null ? row === findings[0].row : !row.hidden;
    for (const shape of shapes) shape.hidden = pattern !== null && !shape.querySelector("tbody tr:not([hidden])");
    for (const lens of lenses) lens.hidden = pattern !== null && !lens.querySelector(".shape:not([hidden])");
    mark(pattern);
    about.textContent = wrong ? "no regular expression" : pattern === null ? "" : [plural(found, "row"), plural(worst, "finding"), plural(graphs.filter((one) => !one.hidden).length, "graph")].join(", ");
  }

  // Marks what was found without changing the document, so names stay text.
  function mark(pattern) {
    if (!window.CSS || !CSS.highlights) return;
    CSS.highlights.delete("found");
    if (pattern === null) return;
    const ranges = [], every = new RegExp(pattern.source, pattern.flags + "g");
    for (const { row } of findings.concat(rows)) {
      if (row.hidden) continue;
      for (const part of row.cells || [row]) {
        // A name is several texts, between which its line may end.
        const texts = [], walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
        let whole = "";
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
          texts.push({ node, from: whole.length });
          whole += node.data;
        }
        const place = (at, isEnd) => {
          const { node, from } = texts.findLast(({ from }) => isEnd ? from < at : from <= at);
          return [node, at - from];
        };
        for (const hit of whole.matchAll(every)) {
          if (hit[0] === "") break;
          const range = new Range();
          range.setStart(...place(hit.index, false));
          range.setEnd(...place(hit.index + hit[0].length, true));
          ranges.push(range);
          if (ranges.length >= MARKED) break;
        }
        if (ranges.length >= MARKED) break;
      }
      if (ranges.length >= MARKED) break;
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  page.listen("search", filter);
  box.addEventListener("input", () => page.search(box.value));
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { box.value = ""; page.search(""); } });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.defaultPrevented || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    box.focus();
  });
})();
