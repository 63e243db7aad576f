// Draws the flame graphs of the page. The outermost frames are at the top; what they called hangs below them. Names come from
// the observed program: they go into the page only as text.
(function () {
  "use strict";
  const ROW = 19, THINNEST = 0.6, METHODS = 25, KINDS = ["interpreted", "compiled", "inlined", "native", "stub", "kernel", "unknown"];
  // How kinds are called, and what stands behind them, by what is drawn.
  const TITLES = {
    code: ["Java, interpreted", "Java, compiled", "Java, inlined", "native", "JVM stub", "kernel", "unknown"],
    heap: ["", "class of the program", "", "class of the JDK", "", "", "unknown"],
  };
  const BEHIND = {
    code: "a method's colour is how most of it ran; boxes thinner than a pixel are not drawn",
    heap: "a box is as wide as what would be freed with these objects; boxes thinner than a pixel are not drawn",
  };
  // Hue, saturation and lightness by kind, for light and dark pages.
  const LIGHT = [[84, 48, 70], [142, 42, 69], [176, 42, 68], [38, 84, 71], [258, 40, 82], [12, 72, 75], [0, 0, 80]];
  const DARK = [[84, 40, 31], [142, 36, 29], [178, 42, 29], [36, 58, 34], [258, 26, 40], [10, 48, 38], [0, 0, 32]];

  const part = (value, total) => total > 0 ? value / total * 100 : 0;
  const percent = (value) => (value >= 99.95 || value === 0 ? value.toFixed(0) : value < 1 ? value.toFixed(2) : value.toFixed(1)) + " %";
  const { amount } = page;
  const { amountsIn, found, having, build, fill, byMethod, contents, unpacked, namesOf } = flameTree;

  function show(figure) {
    const find = (name) => figure.querySelector(".flame-" + name);
    const whole = unpacked(figure), { data } = whole;
    const canvas = figure.querySelector(".flame-view canvas"), pen = canvas.getContext("2d");
    const [search, hits, thread, lines, invert, reset] = ["find", "hits", "thread", "lines", "invert", "reset"].map(find);
    const [path, view, space, about, tip] = ["path", "view", "space", "about", "tip"].map(find);
    const [where, methods, earlier] = ["range", "methods", "before"].map(find);
    const compares = data.before.length > 0;
    earlier.hidden = !compares;
    methods.hidden = compares;
    let list, tree, amounts = null, cells = null, zoom = 0, chosen = 0, boxes = [], matches = null, width = 0;

    const isBefore = () => compares && earlier.getAttribute("aria-pressed") === "true";
    const label = (node) => node === 0 ? "all" : list.label[tree.name[node]];
    const depth = (node) => { let count = 0; for (; node > 0; node = tree.parent[node]) count++; return count; };
    const above = (node) => { const all = []; for (; node >= 0; node = tree.parent[node]) all.push(node); return all.reverse(); };

    function rebuild() {
      list = namesOf(whole, lines.checked);
      tree = build(data, list, invert.getAttribute("aria-pressed") === "true");
      refill();
    }

    function refill() {
      fill(tree, data, Number(thread.value), amounts);
      if (compares) Object.assign(tree, isBefore() ? tree.before : tree.after);
      zoom = chosen = 0;
      seek();
      lay();
      if (methods.open && !compares) tabulate();
    }

    // The range of the page: this graph's part of it, or that it has none.
    function follow() {
      const range = cells || page.range();
      amounts = amountsIn(data, range);
      where.textContent = !range ? "" : amounts ? page.span(range) : "whole session: no times are kept for it";
      where.classList.toggle("still", range !== null && !amounts);
      if (amounts && untimed() > 0) where.textContent += ", without " + amount(untimed(), data.unit) + " whose time is not kept";
      choices();
      if (tree) refill();
      else rebuild();
      methods.open = methods.open || amounts !== null;
    }

    // What is in no step: beyond a bound, or from before the session.
    let missing = -1;
    function untimed() {
      if (missing < 0) {
        missing = data.values.reduce((sum, value) => sum + value, 0);
        for (const one of amountsIn(data, { from: 0, to: Infinity })) missing -= one;
        missing = Math.max(0, missing);
      }
      return missing;
    }

    // Methods by their own amount, without lines.
    function tabulate() {
      const plain = namesOf(whole, false), { own, total, all } = byMethod(data, plain, Number(thread.value), amounts);
      const order = Array.from(own.keys()).filter((name) => total[name] > 0).sort((a, b) => own[b] - own[a] || total[b] - total[a] || (plain.label[a] < plain.label[b] ? -1 : 1));
      const cell = (text, value) => {
        const one = document.createElement("td");
        one.textContent = text;
        if (value !== undefined) { one.className = "n"; one.dataset.v = value; }
        return one;
      };
      methods.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
      methods.querySelector("tbody").replaceChildren(...order.slice(0, METHODS).map((name) => {
        const row = document.createElement("tr"), share = (value) => cell(percent(part(value, all)), part(value, all));
        row.append(cell(plain.label[name]), cell(amount(own[name], data.unit), own[name]), share(own[name]), cell(amount(total[name], data.unit), total[name]), share(total[name]));
        return row;
      }));
    }

    // Boxes of the zoomed node and everything below it that is wide enough to see, with its parents above.
    function lay() {
      width = view.clientWidth;
      boxes = [];
      const put = (row, node, x, wide) => (boxes[row] = boxes[row] || []).push({ node, x, wide });
      above(zoom).forEach((node, row) => put(row, node, 0, width));
      const pending = [[zoom, boxes.length - 1, 0, width]];
      while (pending.length) {
        const [node, row, x, wide] = pending.pop(), scale = wide / (tree.total[node] || 1);
        let left = x;
        for (const child of tree.children(node)) {
          const span = tree.total[child] * scale;
          // Children come widest first, so all that follow are thinner still.
          if (span < THINNEST) break;
          put(row + 1, child, left, span);
          pending.push([child, row + 1, left, span]);
          left += span;
        }
      }
      space.style.height = boxes.length * ROW + "px";
      reset.disabled = zoom === 0;
      crumbs();
      draw();
      tell(chosen || zoom);
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, height = Math.min(view.clientHeight, boxes.length * ROW);
      canvas.style.height = height + "px";
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      const top = view.scrollTop, parents = depth(zoom), letter = pen.measureText("abcdefghijklmnopqrst").width / 20;
      for (let row = Math.floor(top / ROW); row < boxes.length && row * ROW < top + height; row++) {
        for (const { node, x, wide } of boxes[row] || []) box(node, x, row * ROW - top, wide, row < parents, letter);
      }
    }

    function box(node, x, y, wide, faded, letter) {
      const [hue, strength, light] = colour(node), gap = wide > 3 ? 1 : 0, text = page.isDark() ? "#eee" : "#111";
      pen.globalAlpha = faded ? 0.55 : 1;
      pen.fillStyle = "hsl(" + hue + " " + strength + "% " + light + "%)";
      pen.fillRect(x, y, wide - gap, ROW - 1);
      // Names of parents are to be read as well as others.
      pen.globalAlpha = 1;
      if (node === chosen && node !== 0) {
        pen.strokeStyle = text;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, Math.max(wide - gap - 2, 1), ROW - 3);
      }
      const name = fit(label(node), Math.floor((wide - 8) / letter));
      if (name) {
        pen.fillStyle = text;
        pen.fillText(name, x + 4, y + ROW / 2, wide - 6);
      }
    }

    function colour(node) {
      const name = tree.name[node], table = page.isDark() ? DARK : LIGHT;
      if (node === 0) return [0, 0, page.isDark() ? 24 : 88];
      if (matches && matches[name]) return page.isDark() ? [312, 60, 42] : [312, 78, 76];
      if (compares) {
        const before = tree.before.total[node], after = tree.after.total[node], most = Math.max(before, after), share = most > 0 ? (after - before) / most : 0;
        // Grey where nothing changed; the stronger the colour, the larger the part that came or went.
        return [share > 0 ? 4 : 214, Math.min(90, 100 * Math.abs(share)), page.isDark() ? 26 + 14 * Math.abs(share) : 88 - 22 * Math.abs(share)];
      }
      const [hue, strength, light] = table[list.kind[name]] || table[6];
      // Neighbours of one kind differ a little, so that their edges are seen.
      const shade = (Math.imul(name + 1, 0x9e3779b1) >>> 28) / 15 - 0.5;
      return [hue, matches ? strength * 0.35 : strength, light + shade * 7];
    }

    // The end of a Java name says most; what does not fit is cut, and what would be next to nothing is left out.
    function fit(text, room) {
      if (text.length <= room) return text;
      let short = text;
      for (let dot = short.indexOf("."); dot > 0 && short.length > room && /^[\w$.]+(:\d+)?$/.test(text); dot = short.indexOf(".")) short = short.slice(dot + 1);
      return short.length <= room ? short : room < 6 ? "" : short.slice(0, room - 1) + "…";
    }

    function describe(node) {
      const total = tree.total[node], all = tree.total[0], name = tree.name[node];
      const amounts = "total " + amount(total, data.unit) + " = " + percent(part(total, all)) + ", self " + amount(tree.own[node], data.unit) + " = " + percent(part(tree.own[node], all));
      const change = !compares ? "" : differs(tree.before.total[node], tree.after.total[node]);
      const inside = zoom === 0 || node === zoom ? "" : ", " + percent(part(total, tree.total[zoom])) + " of the zoomed";
      return { title: label(node), amounts: (change || amounts) + inside, place: node === 0 ? "" : [TITLES[data.about][list.kind[name]], list.place[name]].filter(Boolean).join(", ") };
    }

    function differs(before, after) {
      const change = after - before, part = before > 0 ? " = " + (change < 0 ? "-" : "+") + percent(100 * Math.abs(change) / before) : "";
      return "before " + amount(before, data.unit) + ", after " + amount(after, data.unit) + ", " + (change < 0 ? "-" : "+") + amount(Math.abs(change), data.unit) + (before > 0 ? part : ", new") + (after > 0 ? "" : ", gone");
    }

    function tell(node) {
      const { title, amounts, place } = describe(node);
      about.textContent = title + " — " + amounts + (place ? " — " + place : "");
    }

    function crumbs() {
      const all = above(zoom), shown = all.length > 7 ? [all[0], -1].concat(all.slice(-5)) : all;
      path.replaceChildren();
      if (zoom === 0) return;
      for (const node of shown) {
        if (node < 0) {
          path.append("…");
          continue;
        }
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label(node);
        button.addEventListener("click", () => enter(node));
        path.append(button);
      }
    }

    function enter(node) {
      zoom = node;
      chosen = node;
      lay();
      view.scrollTop = Math.max(0, (depth(zoom) - 3) * ROW);
    }

    // Marks what matches and adds it up, each amount once: a match below a match is in its amount already.
    function seek() {
      const text = search.value;
      search.classList.remove("flame-bad");
      matches = null;
      hits.textContent = "";
      if (text === "") return;
      const pattern = patternOf(text);
      if (!pattern) {
        search.classList.add("flame-bad");
        hits.textContent = "no regular expression";
        return;
      }
      matches = found(list, text, pattern).matches;
      const frames = list.found.count, of = isBefore() ? data.before : amounts || data.values;
      const sum = frames > 0 ? having(data, list, matches, of, Number(thread.value)) : 0;
      hits.textContent = percent(part(sum, tree.total[0])) + " in " + frames.toLocaleString("en") + (frames === 1 ? " name" : " names");
    }

    function under(event) {
      const place = canvas.getBoundingClientRect(), x = event.clientX - place.left;
      const row = boxes[Math.floor((event.clientY - place.top + view.scrollTop) / ROW)] || [];
      const hit = row.find((one) => x >= one.x && x < one.x + one.wide);
      return hit ? hit.node : -1;
    }

    function point(event) {
      const node = under(event);
      tip.hidden = node < 0;
      canvas.style.cursor = node < 0 ? "default" : "pointer";
      if (node < 0) return;
      const { title, amounts, place } = describe(node), name = document.createElement("b"), lines = [amounts, place].filter(Boolean);
      name.textContent = title;
      tip.replaceChildren(name, ...lines.map((text) => { const line = document.createElement("div"); line.textContent = text; return line; }));
      const { width: wide, height } = tip.getBoundingClientRect();
      tip.style.left = Math.max(4, Math.min(event.clientX + 12, window.innerWidth - wide - 8)) + "px";
      tip.style.top = (event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18) + "px";
    }

    function choose(node) {
      if (node === undefined || node < 0) return;
      chosen = node;
      const top = depth(node) * ROW;
      if (top < view.scrollTop || top + ROW > view.scrollTop + view.clientHeight) view.scrollTop = top - view.clientHeight / 2;
      draw();
      tell(node);
    }

    function sibling(step) {
      if (chosen === 0) return;
      const all = tree.children(tree.parent[chosen]);
      choose(all[all.indexOf(chosen) + step]);
    }

    const keys = {
      ArrowUp: () => choose(tree.parent[chosen]),
      ArrowDown: () => choose(tree.children(chosen)[0]),
      ArrowLeft: () => sibling(-1),
      ArrowRight: () => sibling(1),
      Home: () => choose(zoom),
      Enter: () => enter(chosen),
      Escape: () => enter(zoom > 0 ? tree.parent[zoom] : 0),
      "/": () => search.focus(),
      i: () => invert.click(),
    };
    canvas.addEventListener("keydown", (event) => {
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act();
    });
    canvas.addEventListener("click", (event) => { const node = under(event); if (node >= 0) enter(node); });
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    view.addEventListener("scroll", draw);
    search.addEventListener("input", () => { seek(); draw(); });
    search.addEventListener("keydown", (event) => { if (event.key === "Escape") { search.value = ""; seek(); draw(); canvas.focus(); } });
    thread.addEventListener("change", refill);
    lines.addEventListener("change", rebuild);
    invert.addEventListener("click", () => {
      invert.setAttribute("aria-pressed", invert.getAttribute("aria-pressed") === "true" ? "false" : "true");
      rebuild();
    });
    earlier.addEventListener("click", () => {
      earlier.setAttribute("aria-pressed", earlier.getAttribute("aria-pressed") === "true" ? "false" : "true");
      refill();
    });
    reset.addEventListener("click", () => enter(0));
    methods.addEventListener("toggle", () => { if (methods.open) tabulate(); });
    page.listen("theme", () => { legend(); draw(); });
    page.listen("range", () => { cells = null; heat.show(); follow(); });
    page.listen("search", () => { search.value = page.text(); seek(); draw(); });
    // On paper nothing scrolls.
    page.listen("paper", () => { view.scrollTop = 0; lay(); });
    new ResizeObserver(() => { if (view.clientWidth !== width) lay(); }).observe(view);

    // The threads, the busiest first, and the colours that occur.
    function choices() {
      const { owners, threads, texts } = data, sums = new Float64Array(threads.length / 2 + 1), before = thread.value;
      let total = 0;
      (amounts || data.values).forEach((value, number) => {
        sums[owners[number]] += value;
        total += value;
      });
      const option = (value, text) => {
        const one = document.createElement("option");
        one.value = value;
        one.textContent = text;
        thread.append(one);
      };
      thread.replaceChildren();
      option(-1, "all threads (" + (sums.length - 1).toLocaleString("en") + ")");
      // The chosen thread stays, though it may have nothing in the range.
      const order = Array.from(sums.keys()).filter((at) => sums[at] > 0 || String(at) === before).sort((a, b) => sums[b] - sums[a]);
      for (const at of order) {
        const name = at === 0 ? "no thread" : texts[threads[at * 2 - 1]] + " (" + threads[at * 2 - 2] + ")";
        option(at, percent(part(sums[at], total)) + "  " + name);
      }
      if (before) thread.value = before;
      thread.hidden = sums.length === 1;
    }

    function legend() {
      if (compares) {
        find("legend").textContent = "red has more than before, blue less, grey as much; the stronger the colour, the larger the part that came or went";
        return;
      }
      const table = page.isDark() ? DARK : LIGHT, used = new Uint8Array(KINDS.length), entries = [];
      for (let node = 1; node < tree.size; node++) if (tree.total[node] > 0) used[list.kind[tree.name[node]]] = 1;
      for (const at of KINDS.keys()) {
        if (!used[at]) continue;
        const entry = document.createElement("span"), mark = document.createElement("i"), [hue, strength, light] = table[at];
        mark.style.background = "hsl(" + hue + " " + strength + "% " + light + "%)";
        entry.append(mark, TITLES[data.about][at]);
        entries.push(entry);
      }
      find("legend").replaceChildren(...entries, BEHIND[data.about]);
    }

    const heat = heatMap(find("heat"), data, (range) => { cells = range; follow(); });
    search.value = page.text();
    follow();
    legend();
  }

  // The first graph is drawn at once. The data of the others comes after this script: they are drawn when they come into
  // sight or go to paper.
  const figures = Array.from(document.querySelectorAll("figure.flame"));
  const waiting = new Set(figures.slice(1));
  let isRead = false;
  const reveal = (figure) => {
    later.unobserve(figure);
    if (waiting.delete(figure)) show(figure);
  };
  const later = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) reveal(target);
  }, { rootMargin: "400px" });
  if (figures.length) show(figures[0]);
  window.addEventListener("beforeprint", () => { if (isRead) Array.from(waiting).forEach(reveal); });
  // A graph in which nothing is found goes, drawn or not.
  page.listen("search", () => {
    const pattern = page.pattern();
    for (const figure of isRead ? figures : figures.slice(0, 1)) {
      const shape = figure.closest(".shape"), list = pattern === null ? null : namesOf(contents(figure), true);
      const has = () => waiting.has(figure) ? list.label.some((name) => pattern.test(name)) : found(list, page.text(), pattern).count > 0;
      if (shape) shape.hidden = list !== null && !has();
    }
  });
  document.addEventListener("DOMContentLoaded", () => {
    isRead = true;
    waiting.forEach((figure) => later.observe(figure));
    // What was searched for meanwhile is searched for in all.
    if (page.text() !== "") page.search(page.text());
  });
  if (figures.length) performance.mark("jtrace-drawn");
})();
