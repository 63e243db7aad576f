// Draws the lanes of the time axis with uPlot. Each series is stacked upon the one before it; a lane has its own height scale.
(function () {
  "use strict";
  const holder = document.getElementById("axis-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent), box = document.getElementById("lanes"), status = document.getElementById("axis-cursor");
  const COLOURS = ["#4a90d9", "#e07b39", "#3aa76d", "#c65b9b", "#9a7fd1", "#b89b2e", "#33a1a1", "#d9534f", "#7f8c8d", "#8c6d46"];
  const HEIGHT = 58, HEAD = 46, end = data.duration / 1e9;
  const view = { from: 0, to: end };
  const lanes = [];
  let cursor = null, drawn = false;

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Seconds at which steps begin and, per series, the sum of it and those below, the highest first: so it is painted.
  function columns(lane) {
    const steps = lane.series[0].values.length, step = lane.step / 1e9, x = [], sums = [];
    for (let at = 0; at <= steps; at++) x.push(Math.min(at * step, Math.max(end, (steps - 1) * step)));
    const below = new Float64Array(steps + 1);
    for (const { values } of lane.series) {
      for (let at = 0; at <= steps; at++) below[at] += values[Math.min(at, steps - 1)] || 0;
      sums.unshift(Array.from(below));
    }
    return [x, ...sums];
  }

  const inkOf = () => page.isDark() ? "#ddd" : "#333";
  const lineOf = () => page.isDark() ? "#fff2" : "#0002";

  function plot(lane, place, width) {
    const stepped = uPlot.paths.stepped({ align: 1 });
    const count = lane.series.length;
    const series = lane.series.map((_, at) => {
      const colour = COLOURS[(count - 1 - at) % COLOURS.length];
      return { stroke: colour, fill: colour, width: 0, paths: stepped, points: { show: false } };
    });
    return new uPlot({
      width,
      height: lane.height,
      padding: [4, 30, 0, 30],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        sync: { key: "jtrace" },
        drag: { x: true, y: false, setScale: false },
        bind: {
          dblclick: () => () => { page.choose(null); return null; },
          mouseup: (_, __, handler) => (event) => { drawn = false; handler(event); return null; },
        },
      },
      scales: { x: { time: false, range: () => [view.from, view.to] }, y: { range: (_, low, high) => [0, high > 0 ? high : 1] } },
      axes: [lane.isHead
        ? { stroke: inkOf, grid: { show: false }, ticks: { stroke: lineOf }, side: 0, size: 38, space: 80, values: (_, ticks) => ticks.map((tick) => +tick.toFixed(3) + " s\n" + page.clock(tick * 1e9)) }
        : { show: true, size: 0, values: () => [], grid: { stroke: lineOf, width: 1 }, ticks: { show: false } },
      { show: false }],
      series: [{}, ...series],
      hooks: {
        setCursor: [point],
        setSelect: [(u) => {
          // All lanes tell of one drag. The first one says which range; for the others the scale has changed by then.
          if (u.select.width < 2 || drawn) return;
          drawn = true;
          const from = u.posToVal(u.select.left, "x") * 1e9, to = u.posToVal(u.select.left + u.select.width, "x") * 1e9;
          lanes.forEach((other) => other.chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false));
          page.choose(from, to);
        }],
        drawClear: [(u) => { if (!lane.isHead) shade(u, lane); }],
        draw: [(u) => { if (lane.isHead) marks(u); }],
      },
    }, lane.isHead ? [[0, end]] : columns(lane), place);
  }

  // When sites of a lens were away: what is empty there was not seen, and need not be nothing.
  function absences(lens) {
    const list = [], open = new Map();
    for (const { at, group, action, lens: own } of data.marks) {
      // Both lenses know absences from the scheduler's sites.
      if (own !== lens && !(lens === "wall" && own === "offcpu")) continue;
      if (/^(detached|stopped|switched_off)$/.test(action) && !open.has(group)) open.set(group, at);
      if (/^(attached|switched_on)$/.test(action) && open.has(group)) {
        list.push({ from: open.get(group), to: at, group });
        open.delete(group);
      }
    }
    for (const [group, from] of open) list.push({ from, to: data.duration, group });
    return list;
  }

  function shade(u, lane) {
    u.ctx.save();
    u.ctx.fillStyle = page.isDark() ? "#ffffff1c" : "#0000001a";
    for (const { from, to } of lane.away) {
      const left = Math.max(u.valToPos(from / 1e9, "x", true), u.bbox.left), right = Math.min(u.valToPos(to / 1e9, "x", true), u.bbox.left + u.bbox.width);
      if (right > left) u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
    }
    u.ctx.restore();
  }

  // What the governor did, as lines in the head of the axis.
  function marks(u) {
    u.ctx.save();
    u.ctx.fillStyle = page.isDark() ? "#ffb454" : "#a85b00";
    for (const { at } of data.marks) {
      const x = u.valToPos(at / 1e9, "x", true);
      if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) u.ctx.fillRect(x - 1, u.bbox.top, 3, u.bbox.height);
    }
    u.ctx.restore();
  }

  function point(u) {
    const next = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") * 1e9 : null;
    // Every lane tells of one movement.
    if (next === cursor || (next !== null && cursor !== null && Math.abs(next - cursor) < 1000)) return;
    cursor = next;
    read();
  }

  // Per lane the sums of what is shown, or the values of the step under the cursor.
  function read() {
    const range = page.range() || { from: 0, to: Infinity };
    for (const lane of lanes) {
      if (lane.isHead) continue;
      const at = cursor === null ? -1 : Math.floor(cursor / lane.step);
      lane.series.forEach((series, index) => {
        const value = at < 0 ? figure(lane, series.values, range) : series.values[at];
        const known = typeof value === "number" || !lane.levels;
        lane.outputs[index].textContent = known ? page.amount(value || 0, lane.unit) : "not known";
      });
    }
    const marked = cursor === null ? [] : data.marks.filter(({ at }) => Math.abs(at - cursor) < (view.to - view.from) * 1e9 / 150);
    const held = cursor === null ? [] : data.findings.filter(({ when }) => when.some(([from, to]) => cursor >= from && cursor < to));
    const moment = cursor === null ? "" : "At " + page.seconds(cursor) + " s, " + page.clock(cursor) + " UTC. ";
    status.textContent = moment + marked.map(({ text }) => text).concat(held.map(({ title }) => title)).join("; ");
  }

  // The sum of whole steps, of levels the last one, of what does not add up the largest; nothing where nothing is known.
  function figure(lane, values, range) {
    let sum = lane.levels ? null : 0;
    for (let at = Math.ceil(range.from / lane.step); at < values.length && at * lane.step < range.to; at++) {
      if (lane.levels) sum = values[at];
      else sum = lane.adds ? sum + (values[at] || 0) : Math.max(sum, values[at] || 0);
    }
    return sum;
  }

  function zoom() {
    const range = page.range();
    view.from = range ? range.from / 1e9 : 0;
    view.to = range ? Math.min(range.to / 1e9, Math.max(end, range.from / 1e9 + 1e-9)) : end;
    lanes.forEach(({ chart }) => chart.batch(() => chart.setScale("x", { min: view.from, max: view.to })));
    bars.forEach(place);
    read();
  }

  function row(lane) {
    const line = make("div", lane.isHead ? "lane lane-head" : "lane"), text = make("div", "lane-text"), place = make("div", "lane-plot");
    line.dataset.lane = lane.id || "";
    if (!lane.isHead) {
      const title = make("div", "lane-title", lane.section);
      title.append(" ", make("span", "dim", lane.title));
      const list = make("div", "lane-values");
      lane.outputs = lane.series.map(({ title: name }, at) => {
        const entry = make("span"), mark = make("i"), value = make("b");
        mark.style.background = COLOURS[at % COLOURS.length];
        entry.append(mark, name + " ", value);
        list.append(entry);
        return value;
      });
      text.append(title, list);
      if (lane.away.length) text.append(make("span", "still", "grey: " + Array.from(new Set(lane.away.map(({ group }) => group))).join(", ") + " not attached"));
      if (page.grid % lane.step !== 0) text.append(make("span", "still", "whole steps differ"));
    }
    line.append(text, place);
    box.append(line);
    return place;
  }

  // Findings whose times are known: a bar for each stretch, which chooses it; the sentence leads to the finding.
  const bars = [];
  function place({ bar, from, to }) {
    const width = view.to - view.from, left = Math.max(0, (from / 1e9 - view.from) / width), right = Math.min(1, (to / 1e9 - view.from) / width);
    bar.hidden = right < left;
    bar.style.left = 100 * left + "%";
    bar.style.width = 100 * Math.max(0, right - left) + "%";
  }
  function findingRow({ at, severity, title, when }) {
    const line = make("div", "lane lane-finding"), text = make("div", "lane-text"), track = make("div", "lane-plot"), inner = make("div", "lane-bars");
    const jump = make("button", "finding-jump " + severity, title);
    jump.type = "button";
    jump.title = title;
    jump.addEventListener("click", () => {
      const finding = document.getElementById("finding-" + at);
      finding.open = true;
      finding.scrollIntoView({ block: "center" });
      finding.querySelector("summary").focus();
    });
    for (const [from, to] of when) {
      const bar = make("button", "bar " + severity);
      bar.type = "button";
      bar.setAttribute("aria-label", page.span({ from, to }) + ": " + title);
      bar.title = page.span({ from, to });
      bar.addEventListener("click", () => page.choose(from, to));
      inner.append(bar);
      bars.push({ bar, from, to });
    }
    text.append(jump);
    track.append(inner);
    line.append(text, track);
    box.append(line);
  }

  const all = [{ isHead: true, series: [], height: HEAD, step: 1 }, ...data.lanes.map((lane) => ({ ...lane, height: HEIGHT, away: absences(lane.lens) }))];
  const places = all.map((lane) => {
    const place = row(lane);
    if (lane.isHead) data.findings.forEach(findingRow);
    return place;
  });
  const widthOf = () => Math.max(100, places[0].clientWidth);
  let width = widthOf();
  all.forEach((lane, at) => { lane.chart = plot(lane, places[at], width); lanes.push(lane); });
  function resize() {
    if (widthOf() === width) return;
    width = widthOf();
    lanes.forEach(({ chart, height }) => chart.batch(() => chart.setSize({ width, height })));
  }
  new ResizeObserver(resize).observe(box);
  page.listen("paper", resize);
  bars.forEach(place);
  page.listen("range", zoom);
  page.listen("theme", () => lanes.forEach(({ chart }) => chart.redraw(false, true)));

  // Arrows move the cursor by a step, with Shift they choose from where it was first.
  let anchor = null;
  const put = (ns) => {
    cursor = Math.min(Math.max(ns, view.from * 1e9), view.to * 1e9 - 1);
    const left = lanes[0].chart.valToPos(cursor / 1e9, "x");
    lanes.forEach(({ chart }) => chart.setCursor({ left, top: 0 }, false, false));
    read();
  };
  box.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) {
      if (event.key === "Escape") anchor = null;
      return;
    }
    event.preventDefault();
    const step = page.grid || end * 1e7, here = cursor === null ? view.from * 1e9 + step / 2 : cursor;
    if (event.shiftKey && anchor === null) anchor = Math.floor(here / step);
    if (!event.shiftKey) anchor = null;
    if (!event.shiftKey) {
      put(cursor === null ? here : Number.isFinite(to) ? here + to * step : to);
      return;
    }
    const at = Math.max(0, Math.min(Math.floor(here / step) + to, Math.ceil(data.duration / step) - 1));
    page.choose(Math.min(anchor, at) * step, (Math.max(anchor, at) + 1) * step);
    put((at + 0.5) * step);
  });
  read();
})();
