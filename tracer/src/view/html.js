// Sorts a table by the column whose heading is clicked; a second click turns the direction.
document.querySelectorAll("th").forEach(function (th) {
  th.addEventListener("click", function () {
    var table = th.closest("table"), body = table.tBodies[0], at = th.cellIndex;
    var down = th.dataset.down !== "1";
    th.dataset.down = down ? "1" : "0";
    var value = function (row) { return row.cells[at].dataset.v; };
    var rows = Array.from(body.rows).sort(function (a, b) {
      var x = value(a), y = value(b);
      if (x === undefined || y === undefined) {
        if (x === undefined && y === undefined && th.className !== "n") {
          var s = a.cells[at].textContent, t = b.cells[at].textContent;
          return (s < t ? -1 : s > t ? 1 : 0) * (down ? -1 : 1);
        }
        return (x === undefined) - (y === undefined);
      }
      return (x - y) * (down ? -1 : 1);
    });
    body.append.apply(body, rows);
  });
});
