// The heat map above a graph whose steps are shorter than a second: a column is a second, a row a step within it, and the
// darker a cell, the more was seen in it. What comes back each second, or in bursts, is seen in it; cells choose for the graph.
function heatMap(place, data, choose) {
  "use strict";
  const SECOND = 1e9, CELL = 8, WIDEST = 16, rows = Math.round(SECOND / data.step);
  if (!(data.step > 0 && rows > 1)) return { show: () => {} };
  const steps = Math.ceil(page.end / data.step), columns = Math.ceil(steps / rows), sums = new Float64Array(columns * rows);
  for (let at = 0; at < data.steps.length;) {
    let when = 0;
    for (let left = data.steps[at++]; left > 0; left--) {
      when += data.steps[at++];
      sums[when] += data.steps[at++];
    }
  }
  const most = sums.reduce((all, one) => Math.max(all, one), 0);
  const canvas = place.querySelector("canvas"), about = place.querySelector(".heat-about"), pen = canvas.getContext("2d");
  place.hidden = most === 0;
  let wide = 1, cell = 0, anchor = null, chosen = null;

  function draw() {
    const ratio = window.devicePixelRatio || 1, dark = page.isDark();
    wide = Math.max(1, Math.min(WIDEST, Math.floor((place.clientWidth - 2) / columns)));
    canvas.style.width = wide * columns + "px";
    canvas.style.height = CELL * rows + "px";
    canvas.width = Math.round(wide * columns * ratio);
    canvas.height = Math.round(CELL * rows * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const gap = wide > 3 ? 1 : 0;
    sums.forEach((sum, at) => {
      const share = Math.sqrt(sum / most), inside = chosen && at >= chosen[0] && at <= chosen[1];
      const light = dark ? 14 + 52 * share : 96 - 62 * share;
      pen.fillStyle = at >= steps ? "transparent" : "hsl(" + (inside ? 28 : 212) + " " + (sum > 0 || inside ? 75 : 8) + "% " + light + "%)";
      pen.fillRect(Math.floor(at / rows) * wide, (at % rows) * CELL, wide - gap, CELL - 1);
    });
    if (document.activeElement === canvas) {
      pen.strokeStyle = dark ? "#fff" : "#000";
      pen.strokeRect(Math.floor(cell / rows) * wide + 0.5, (cell % rows) * CELL + 0.5, Math.max(1, wide - gap - 1), CELL - 2);
    }
  }

  function tell(at) {
    const from = at * data.step;
    about.textContent = at < steps ? page.span({ from, to: from + data.step }) + ": " + page.amount(sums[at], data.unit) : "";
  }
  function take(from, to) {
    chosen = [Math.min(from, to), Math.max(from, to)];
    draw();
    choose({ from: chosen[0] * data.step, to: (chosen[1] + 1) * data.step });
  }
  function leave() {
    chosen = anchor = null;
    draw();
    choose(null);
  }
  const under = (event) => {
    const box = canvas.getBoundingClientRect(), inside = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value)));
    return Math.min(steps - 1, inside((event.clientX - box.left) / wide, columns) * rows + inside((event.clientY - box.top) / CELL, rows));
  };
  canvas.addEventListener("pointerdown", (event) => { anchor = cell = under(event); draw(); });
  canvas.addEventListener("pointermove", (event) => {
    tell(under(event));
    if (anchor === null || event.buttons === 0) return;
    chosen = [Math.min(anchor, under(event)), Math.max(anchor, under(event))];
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (anchor !== null) take(anchor, under(event));
    anchor = null;
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -rows, ArrowRight: rows, Enter: 0 }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey || (by === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    if (by === undefined) {
      leave();
      return;
    }
    if (!event.shiftKey) anchor = null;
    else if (anchor === null) anchor = cell;
    cell = Math.max(0, Math.min(steps - 1, cell + by));
    if (event.shiftKey || by === 0) take(anchor === null ? cell : anchor, cell);
    else draw();
    tell(cell);
  });
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, draw);
  page.listen("theme", draw);
  new ResizeObserver(draw).observe(place);
  page.listen("paper", draw);
  draw();
  return { show: () => { chosen = anchor = null; draw(); } };
}
