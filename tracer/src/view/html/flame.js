// Draws the flame graphs of the page. The outermost frames are at the top; what they called hangs below them. Names come from
// the observed program: they go into the page only as text.
(function () {
  "use strict";
  const ROW = 19, THINNEST = 0.6, KINDS = ["interpreted", "compiled", "inlined", "native", "stub", "kernel", "unknown"];
  const TITLES = ["Java, interpreted", "Java, compiled", "Java, inlined", "native", "JVM stub", "kernel", "unknown"];
  // Hue, saturation and lightness by kind, for light and dark pages.
  const LIGHT = [[84, 48, 70], [142, 42, 69], [176, 42, 68], [38, 84, 71], [258, 40, 82], [12, 72, 75], [0, 0, 80]];
  const DARK = [[84, 40, 31], [142, 36, 29], [178, 42, 29], [36, 58, 34], [258, 26, 40], [10, 48, 38], [0, 0, 32]];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const part = (value, total) => total > 0 ? value / total * 100 : 0;
  const percent = (value) => (value >= 99.95 || value === 0 ? value.toFixed(0) : value < 1 ? value.toFixed(2) : value.toFixed(1)) + " %";
  const digits = (value) => value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
  function amount(value, unit) {
    if (unit === "ns") {
      for (const [name, size] of [["ns", 1], ["us", 1e3], ["ms", 1e6]]) {
        if (value < 999.5 * size) return (size === 1 ? value : digits(value / size)) + " " + name;
      }
      return digits(value / 1e9) + " s";
    }
    if (unit === "bytes") {
      let scaled = value;
      for (const name of ["B", "KiB", "MiB", "GiB"]) {
        if (scaled < 999.5) return (name === "B" ? scaled : digits(scaled)) + " " + name;
        scaled /= 1024;
      }
      return digits(scaled) + " TiB";
    }
    return value.toLocaleString("en");
  }

  // Names, colours and places of the frames, with their lines or without: `id` maps a frame to its name.
  function names(data, lines) {
    const { frames, texts } = data, count = frames.length / 5, known = new Map();
    const list = { id: new Int32Array(count), label: [], kind: [], place: [] };
    for (let at = 0; at < count; at++) {
      const [name, kind, file, module, line] = frames.slice(at * 5, at * 5 + 5);
      const shown = lines ? line : 0, key = name + "," + module + "," + (kind === 5) + "," + shown;
      let id = known.get(key);
      if (id === undefined) {
        id = list.label.length;
        known.set(key, id);
        list.label.push(texts[name] + (shown ? ":" + shown : ""));
        list.kind.push(kind);
        list.place.push([texts[file] && texts[file] + (shown ? ":" + shown : ""), texts[module]].filter(Boolean).join(" in "));
      }
      list.id[at] = id;
    }
    return list;
  }

  // The tree as columns, a node a number; 0 is the root, and every node comes after its parent.
  class Tree {
    constructor(nodes) {
      this.size = 0;
      this.room(nodes);
      this.slots = new Int32Array(1 << 14).fill(-1);
      this.add(-1, -1);
    }
    room(count) {
      const grow = (old, Type) => { const fresh = new Type(count); if (old) fresh.set(old); return fresh; };
      this.parent = grow(this.parent, Int32Array);
      this.name = grow(this.name, Int32Array);
      this.first = grow(this.first, Int32Array);
      this.next = grow(this.next, Int32Array);
      this.own = grow(this.own, Float64Array);
      this.total = grow(this.total, Float64Array);
    }
    add(parent, name) {
      if (this.size === this.parent.length) this.room(this.size * 2);
      const node = this.size++;
      this.parent[node] = parent;
      this.name[node] = name;
      this.first[node] = -1;
      if (parent >= 0) {
        this.next[node] = this.first[parent];
        this.first[parent] = node;
      }
      return node;
    }
    slot(parent, name) {
      const mask = this.slots.length - 1;
      let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b));
      at = (at ^ (at >>> 15)) & mask;
      for (;;) {
        const node = this.slots[at];
        if (node < 0 || (this.parent[node] === parent && this.name[node] === name)) return at;
        at = (at + 1) & mask;
      }
    }
    child(parent, name) {
      let at = this.slot(parent, name);
      if (this.slots[at] >= 0) return this.slots[at];
      if (this.size * 2 > this.slots.length) {
        this.slots = new Int32Array(this.slots.length * 4).fill(-1);
        for (let node = 1; node < this.size; node++) this.slots[this.slot(this.parent[node], this.name[node])] = node;
        at = this.slot(parent, name);
      }
      return this.slots[at] = this.add(parent, name);
    }
    sum() {
      this.total.set(this.own);
      for (let node = this.size - 1; node > 0; node--) this.total[this.parent[node]] += this.total[node];
    }
    children(node) {
      const list = [];
      for (let child = this.first[node]; child >= 0; child = this.next[child]) list.push(child);
      return list.sort((a, b) => this.total[b] - this.total[a] || this.name[a] - this.name[b]);
    }
  }

  function build(data, list, thread, inverted) {
    const { stacks } = data, path = [], nodes = [0];
    // Stacks are sorted: where every frame has a name of its own, what a stack adds is new and need not be looked for.
    const fresh = !inverted && list.label.length === list.id.length;
    const tree = new Tree(fresh ? stacks.length : 1 << 16);
    // Of the nodes along the path to the previous stack, so many are known; stacks of other threads have none.
    let known = 0;
    for (let at = 0; at < stacks.length;) {
      const kept = stacks[at++], added = stacks[at++];
      path.length = kept;
      for (let end = at + added; at < end; at++) path.push(list.id[stacks[at]]);
      const owner = stacks[at++], value = stacks[at++];
      known = Math.min(known, kept);
      if (thread >= 0 && owner !== thread) continue;
      let node = 0;
      if (inverted) {
        for (let frame = path.length - 1; frame >= 0; frame--) node = tree.child(node, path[frame]);
      } else {
        for (; known < path.length; known++) {
          nodes[known + 1] = fresh ? tree.add(nodes[known], path[known]) : tree.child(nodes[known], path[known]);
        }
        node = nodes[known];
      }
      tree.own[node] += value;
    }
    tree.sum();
    return tree;
  }

  function show(figure) {
    const find = (name) => figure.querySelector(".flame-" + name);
    const data = JSON.parse(figure.querySelector("script").textContent);
    const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d");
    const [search, hits, thread, lines, invert, reset] = ["find", "hits", "thread", "lines", "invert", "reset"].map(find);
    const [path, view, space, about, tip] = ["path", "view", "space", "about", "tip"].map(find);
    const lists = [null, null];
    let list, tree, zoom = 0, chosen = 0, boxes = [], matches = null, width = 0;

    const label = (node) => node === 0 ? "all" : list.label[tree.name[node]];
    const depth = (node) => { let count = 0; for (; node > 0; node = tree.parent[node]) count++; return count; };
    const above = (node) => { const all = []; for (; node >= 0; node = tree.parent[node]) all.push(node); return all.reverse(); };

    function rebuild() {
      const at = lines.checked ? 1 : 0;
      list = lists[at] = lists[at] || names(data, lines.checked);
      tree = build(data, list, Number(thread.value), invert.getAttribute("aria-pressed") === "true");
      zoom = chosen = 0;
      seek();
      lay();
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
      const [hue, strength, light] = colour(node), gap = wide > 3 ? 1 : 0, text = dark.matches ? "#eee" : "#111";
      pen.globalAlpha = faded ? 0.55 : 1;
      pen.fillStyle = "hsl(" + hue + " " + strength + "% " + light + "%)";
      pen.fillRect(x, y, wide - gap, ROW - 1);
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
      pen.globalAlpha = 1;
    }

    function colour(node) {
      const name = tree.name[node], table = dark.matches ? DARK : LIGHT;
      if (node === 0) return [0, 0, dark.matches ? 24 : 88];
      if (matches && matches[name]) return dark.matches ? [312, 60, 42] : [312, 78, 76];
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
      const inside = zoom === 0 || node === zoom ? "" : ", " + percent(part(total, tree.total[zoom])) + " of the zoomed";
      return { title: label(node), amounts: amounts + inside, place: node === 0 ? "" : [TITLES[list.kind[name]], list.place[name]].filter(Boolean).join(", ") };
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
      let pattern;
      try {
        const [, source, flags] = /^\/(.+)\/(i?)$/s.exec(text) || [null, text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"];
        pattern = new RegExp(source, flags);
      } catch (error) {
        search.classList.add("flame-bad");
        hits.textContent = "no regular expression";
        return;
      }
      matches = list.label.map((name) => pattern.test(name));
      const inside = new Uint8Array(tree.size);
      let sum = 0, frames = 0;
      for (let node = 1; node < tree.size; node++) {
        const parent = tree.parent[node], is = matches[tree.name[node]];
        if (is && !inside[parent]) sum += tree.total[node];
        if (is || inside[parent]) inside[node] = 1;
      }
      for (const is of matches) frames += is ? 1 : 0;
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
    thread.addEventListener("change", rebuild);
    lines.addEventListener("change", rebuild);
    invert.addEventListener("click", () => {
      invert.setAttribute("aria-pressed", invert.getAttribute("aria-pressed") === "true" ? "false" : "true");
      rebuild();
    });
    reset.addEventListener("click", () => enter(0));
    dark.addEventListener("change", () => { legend(); draw(); });
    new ResizeObserver(() => { if (view.clientWidth !== width) lay(); }).observe(view);

    // The threads, the busiest first, and the colours that occur.
    function choices() {
      const { stacks, threads, texts } = data, sums = new Float64Array(threads.length / 2 + 1);
      let total = 0;
      for (let at = 0; at < stacks.length;) {
        at += 2 + stacks[at + 1];
        sums[stacks[at]] += stacks[at + 1];
        total += stacks[at + 1];
        at += 2;
      }
      const option = (value, text) => {
        const one = document.createElement("option");
        one.value = value;
        one.textContent = text;
        thread.append(one);
      };
      option(-1, "all threads (" + (sums.length - 1).toLocaleString("en") + ")");
      const order = Array.from(sums.keys()).filter((at) => sums[at] > 0).sort((a, b) => sums[b] - sums[a]);
      for (const at of order) {
        const name = at === 0 ? "no thread" : texts[threads[at * 2 - 1]] + " (" + threads[at * 2 - 2] + ")";
        option(at, percent(part(sums[at], total)) + "  " + name);
      }
    }

    function legend() {
      const table = dark.matches ? DARK : LIGHT, used = new Set(), entries = [];
      for (let node = 1; node < tree.size; node++) used.add(list.kind[tree.name[node]]);
      for (const at of KINDS.keys()) {
        if (!used.has(at)) continue;
        const entry = document.createElement("span"), mark = document.createElement("i"), [hue, strength, light] = table[at];
        mark.style.background = "hsl(" + hue + " " + strength + "% " + light + "%)";
        entry.append(mark, TITLES[at]);
        entries.push(entry);
      }
      find("legend").replaceChildren(...entries, "a method's colour is how most of it ran; boxes thinner than a pixel are not drawn");
    }

    choices();
    rebuild();
    legend();
  }

  // The first graph is drawn at once, others when they come into sight.
  const figures = Array.from(document.querySelectorAll("figure.flame"));
  const later = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      later.unobserve(target);
      show(target);
    }
  }, { rootMargin: "400px" });
  figures.forEach((figure, at) => { if (at === 0) show(figure); else later.observe(figure); });
  if (figures.length) performance.mark("jtrace-drawn");
})();
