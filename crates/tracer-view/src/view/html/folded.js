// Long tables show their first rows, and all of them at a click. What a search has found is never folded away.
(function () {
  "use strict";
  // A few more than the first are not worth a click.
  const FEW = 10, MANY = 15;

  function foldable(shape) {
    const body = shape.querySelector("tbody"), button = document.createElement("button");
    let whole = false;
    button.type = "button";
    button.className = "fold";
    shape.querySelector(".scroll").after(button);

    function show() {
      const rows = Array.from(body.rows).filter((row) => !row.hidden && !row.classList.contains("none"));
      const folds = page.pattern() === null && rows.length > MANY;
      rows.forEach((row, at) => row.classList.toggle("beyond", folds && !whole && at >= FEW));
      button.hidden = !folds;
      button.textContent = whole ? "show the first " + FEW : FEW + " of " + rows.length.toLocaleString("en") + " rows, show all";
      button.setAttribute("aria-expanded", whole);
    }
    button.addEventListener("click", () => { whole = !whole; show(); });
    shape.addEventListener("sorted", show);
    page.listen("range", show);
    page.listen("search", show);
    show();
  }

  for (const shape of document.querySelectorAll(".shape:not(.flamed)")) if (shape.querySelector(".scroll tbody")?.rows.length > MANY) foldable(shape);
})();
