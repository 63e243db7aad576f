// What the parts of the page share: amounts as text, the theme, the chosen range of time, and the searched text.
const page = (function () {
  "use strict";
  const system = window.matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const listeners = { theme: [], range: [], search: [], paper: [] };
  const tell = (what) => listeners[what].forEach((listener) => listener());
  const grid = Number(document.getElementById("page").dataset.grid) || 0, end = Number(document.getElementById("page").dataset.duration) || 0;
  let range = null, pattern = null, text = "";

  const digits = (value) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  function amount(value, unit) {
    if (unit === "ns") {
      for (const [name, size] of [["ns", 1], ["us", 1e3], ["ms", 1e6]]) {
        if (value < 999.5 * size) return (size === 1 ? Math.round(value) : digits(value / size)) + " " + name;
      }
      return digits(value / 1e9) + " s";
    }
    if (unit === "bytes" || unit === "bytes_per_second") {
      const per = unit === "bytes" ? "" : "/s";
      let scaled = value;
      for (const name of ["B", "KiB", "MiB", "GiB"]) {
        if (scaled < 999.5) return (name === "B" ? Math.round(scaled) : digits(scaled)) + " " + name + per;
        scaled /= 1024;
      }
      return digits(scaled) + " TiB" + per;
    }
    if (unit === "percent") return value.toFixed(1) + " %";
    return value.toLocaleString("en", { maximumFractionDigits: 2 }) + (unit === "per_second" ? "/s" : "");
  }
  const started = Number(document.getElementById("page").dataset.started) || 0, DAY = 86400000;
  // The time of day in UTC, as everywhere in a report.
  const clock = (ns) => new Date(started + ns / 1e6).toISOString().slice(11, 19);
  // What was typed as a time, in ns since the start: seconds, or a time of day, of which the first after the start is meant.
  function moment(text) {
    const [, hour, minute, second] = /^\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*$/.exec(text) || [];
    if (hour === undefined) return text.trim() === "" ? NaN : Number(text) * 1e9;
    const of = (Number(hour) * 3600 + Number(minute) * 60 + Number(second || 0)) * 1000, since = of - started % DAY;
    return (since < -DAY / 2 ? since + DAY : since) * 1e6;
  }
  const seconds = (ns) => (ns / 1e9).toLocaleString("en", { maximumFractionDigits: 3, useGrouping: false });

  return {
    amount,
    seconds,
    clock,
    moment,
    // Width of the steps that a range is made of, and the end of the session, in ns.
    grid,
    end,
    listen: (what, listener) => listeners[what].push(listener),
    isDark: () => root.dataset.theme === "dark" || (root.dataset.theme !== "light" && system.matches),
    setTheme(theme) {
      if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
      tell("theme");
    },
    // Paper has a width of its own: what is drawn for the window would not fit it.
    setPaper(is) {
      root.classList.toggle("paper", is);
      tell("paper");
    },
    range: () => range,
    // Takes whole steps, so that what is added up is exact; `null` is the whole session.
    choose(from, to) {
      const first = Math.max(0, Math.floor(from / grid)), last = Math.min(Math.ceil(to / grid), Math.ceil(end / grid));
      const all = from === null || !(grid > 0) || !(last > first) || (first === 0 && last === Math.ceil(end / grid));
      const next = all ? null : { from: first * grid, to: last * grid };
      if ((range && range.from) === (next && next.from) && (range && range.to) === (next && next.to)) return;
      range = next;
      tell("range");
    },
    span: (part) => seconds(part.from) + " s to " + seconds(Math.min(part.to, end)) + " s",
    pattern: () => pattern,
    text: () => text,
    search(next) {
      text = next;
      pattern = next === "" ? null : patternOf(next);
      tell("search");
    },
    onSystemTheme: () => system.addEventListener("change", () => tell("theme")),
  };
})();
page.onSystemTheme();

// A text or a /regular expression/; nothing where it is none.
function patternOf(text) {
  const [, source, flags] = /^\/(.+)\/(i?)$/s.exec(text) || [null, text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"];
  try {
    return new RegExp(source, flags);
  } catch (error) {
    return null;
  }
}

// The bar: range, theme, and what a range leaves alone.
(function () {
  "use strict";
  const find = (id) => document.getElementById(id);
  const [from, to, about, whole, theme] = ["range-from", "range-to", "range-about", "range-whole", "theme"].map(find);
  const still = [];
  for (const heading of document.querySelectorAll(".lens > h2, .shape:not(.follows) > h3, #findings > h2, #time > h2")) {
    const badge = document.createElement("span");
    badge.className = "still";
    badge.textContent = "whole session";
    badge.hidden = true;
    heading.append(" ", badge);
    still.push(badge);
  }

  function show() {
    const range = page.range();
    still.forEach((badge) => { badge.hidden = range === null; });
    from.value = page.seconds(range ? range.from : 0);
    to.value = page.seconds(range ? Math.min(range.to, page.end) : page.end);
    whole.disabled = range === null;
    const steps = page.grid > 0 ? ", in steps of " + page.amount(page.grid, "ns") : "";
    about.textContent = range ? page.amount(Math.min(range.to, page.end) - range.from, "ns") + " chosen" + steps : "whole session, " + page.amount(page.end, "ns");
  }
  // One moment, or an end before the beginning, is that moment's step.
  const typed = (box) => {
    const [first, last] = [from, to].map((one) => page.moment(one.value));
    if (Number.isNaN(first) || Number.isNaN(last)) return;
    if (last > first) page.choose(first, last);
    else if (box === from) page.choose(first, first + page.grid);
    else page.choose(Math.max(0, last - page.grid), last);
  };
  page.listen("range", show);
  for (const box of [from, to]) {
    box.disabled = !(page.grid > 0);
    box.addEventListener("change", () => { typed(box); show(); });
  }
  const go = (part) => {
    const heading = part.querySelector("h2, h3");
    heading.tabIndex = -1;
    // The bar stays above it, however many lines it has.
    part.style.scrollMarginTop = find("bar").offsetHeight + 8 + "px";
    part.scrollIntoView({ block: "start" });
    heading.focus({ preventScroll: true });
  };
  for (const button of document.querySelectorAll("[data-place]")) {
    const shape = Array.from(document.querySelectorAll("[data-shape]")).find((one) => one.dataset.shape === button.dataset.place);
    button.hidden = !shape;
    button.addEventListener("click", () => go(shape));
  }
  for (const button of document.querySelectorAll("[data-go]")) button.addEventListener("click", () => go(find(button.dataset.go)));
  for (const button of document.querySelectorAll(".when [data-from]")) {
    button.hidden = !(page.grid > 0);
    button.addEventListener("click", () => page.choose(Number(button.dataset.from), Number(button.dataset.to)));
  }
  whole.addEventListener("click", () => page.choose(null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !/^(INPUT|SELECT|CANVAS)$/.test(event.target.tagName)) page.choose(null);
  });
  theme.addEventListener("change", () => page.setTheme(theme.value));

  // Paper is white.
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = theme.value;
    page.setTheme("light");
    document.querySelectorAll(".finding, .complete details").forEach((one) => { one.open = true; });
    page.setPaper(true);
  });
  window.addEventListener("afterprint", () => {
    if (before === null) return;
    page.setPaper(false);
    page.setTheme(before);
    before = null;
  });
  show();
})();
