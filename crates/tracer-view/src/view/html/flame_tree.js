// What a flame graph of the page is drawn from: its data, unpacked; the names of its frames; the tree of its stacks, and what its nodes
// amount to. `flame.js` draws it.
const flameTree = (() => {
  "use strict";
  // What each stack took in the range, by the steps that lie in it; nothing for the whole session.
  function amountsIn(data, range) {
    if (!range || !data.step) return null;
    const { steps, step } = data, sums = new Float64Array(data.values.length);
    for (let at = 0, number = 0; at < steps.length; number++) {
      let sum = 0, when = 0;
      for (let left = steps[at++]; left > 0; left--) {
        when += steps[at++];
        if (when * step >= range.from && when * step < range.to) sum += steps[at];
        at++;
      }
      sums[number] = sum;
    }
    return sums;
  }

  // Names, colours and places of the frames, with their lines or without: `id` maps a frame to its name.
  function names(data, lines) {
    const { frames, texts } = data, count = frames.length / 5, known = new Map();
    const list = { id: new Int32Array(count), label: [], kind: [], place: [] };
    for (let at = 0; at < count; at++) {
      const name = frames[at * 5], kind = frames[at * 5 + 1], file = frames[at * 5 + 2], module = frames[at * 5 + 3], line = frames[at * 5 + 4];
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
    children(node) {
      const list = [];
      for (let child = this.first[node]; child >= 0; child = this.next[child]) if (this.total[child] > 0) list.push(child);
      return list.sort((a, b) => this.total[b] - this.total[a] || this.name[a] - this.name[b]);
    }
  }

  // Which names match. A drawn graph and the page both ask for it.
  function found(list, text, pattern) {
    if (list.found && list.found.text === text) return list.found;
    const { label } = list, matches = new Uint8Array(label.length);
    let count = 0;
    for (let id = 0; id < label.length; id++) if (pattern.test(label[id])) count += matches[id] = 1;
    return list.found = { text, matches, count };
  }

  // What the stacks take that have a matching name, of a thread or of all. There may be millions of frames, and they are looked at
  // while somebody types: what a stack keeps of the one before is not looked at again, nor what lies below a match.
  function having({ stacks, owners }, { id }, matches, of, thread) {
    const is = Uint8Array.from(id, (name) => matches[name]);
    let sum = 0, first = Infinity;
    for (let at = 0, number = 0; at < stacks.length; number++) {
      const kept = stacks[at++], end = at + 1 + stacks[at++];
      if (first >= kept) {
        first = Infinity;
        for (let depth = kept; at < end && first === Infinity; depth++) if (is[stacks[at++]] === 1) first = depth;
      }
      at = end + 2;
      if (first < Infinity && (thread < 0 || owners[number] === thread)) sum += of[number];
    }
    return sum;
  }

  // The tree of all stacks, and the node in which each ends: what they amount to changes with thread and range, the tree does not.
  function build(data, list, inverted) {
    const { stacks } = data, path = [], nodes = [0], leaf = new Int32Array(data.values.length);
    // Stacks are sorted: where every frame has a name of its own, what a stack adds is new and need not be looked for.
    const fresh = !inverted && list.label.length === list.id.length;
    const tree = new Tree(fresh ? stacks.length : 1 << 16);
    for (let at = 0, number = 0; at < stacks.length; number++) {
      const kept = stacks[at++], end = at + 1 + stacks[at++];
      let node = nodes[kept];
      if (inverted) {
        path.length = kept;
        while (at < end) path.push(list.id[stacks[at++]]);
        node = 0;
        for (let frame = path.length - 1; frame >= 0; frame--) node = tree.child(node, path[frame]);
      } else {
        for (let known = kept; at < end; known++) {
          const name = list.id[stacks[at++]];
          node = nodes[known + 1] = fresh ? tree.add(node, name) : tree.child(node, name);
        }
      }
      at += 2;
      leaf[number] = node;
    }
    tree.leaf = leaf;
    return tree;
  }

  // What the nodes have of a thread, or of all, in the range.
  function fill(tree, { owners, values, before }, thread, amounts) {
    const sums = (of) => {
      const own = new Float64Array(tree.size), total = new Float64Array(tree.size);
      tree.leaf.forEach((node, number) => { if (thread < 0 || owners[number] === thread) own[node] += of[number]; });
      total.set(own);
      for (let node = tree.size - 1; node > 0; node--) total[tree.parent[node]] += total[node];
      return { own, total };
    };
    tree.after = sums(amounts || values);
    if (before.length) tree.before = sums(before);
    Object.assign(tree, tree.after);
  }

  // What methods have of a thread, or of all, in the range: a method counts once a stack, however often it is in it.
  function byMethod({ stacks }, list, thread, amounts) {
    const count = list.label.length, own = new Float64Array(count), total = new Float64Array(count), seen = new Int32Array(count);
    const path = [];
    let all = 0;
    for (let at = 0, number = 1; at < stacks.length; number++) {
      const kept = stacks[at++], added = stacks[at++];
      path.length = kept;
      for (let end = at + added; at < end; at++) path.push(list.id[stacks[at]]);
      const owner = stacks[at++], entire = stacks[at++], value = amounts ? amounts[number - 1] : entire;
      if (value === 0 || (thread >= 0 && owner !== thread)) continue;
      all += value;
      if (path.length) own[path[path.length - 1]] += value;
      for (const name of path) {
        if (seen[name] === number) continue;
        seen[name] = number;
        total[name] += value;
      }
    }
    return { own, total, all };
  }

  // Digits of 5 bits, the lowest first; from 32 on another one follows.
  const DIGITS = new Uint8Array(128);
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_").forEach((digit, at) => { DIGITS[digit.charCodeAt(0)] = at; });
  function unpack([count, text]) {
    const numbers = new Float64Array(count);
    for (let index = 0, at = 0; index < count; index++) {
      let digit = DIGITS[text.charCodeAt(at++)], value = digit & 31;
      // Whole numbers of 31 bits are quick, and most are no longer.
      for (let shift = 5; digit > 31 && shift < 30; shift += 5) {
        digit = DIGITS[text.charCodeAt(at++)];
        value |= (digit & 31) << shift;
      }
      for (let scale = 2 ** 30; digit > 31; scale *= 32) {
        digit = DIGITS[text.charCodeAt(at++)];
        value += (digit & 31) * scale;
      }
      numbers[index] = value;
    }
    return numbers;
  }

  // What was read of a graph, with the names of its frames without lines and with them. Its numbers are unpacked where it is drawn.
  const read = new Map();
  function contents(figure) {
    const { later } = figure.dataset;
    if (!read.has(figure)) {
      const holder = later ? document.getElementById(later) : figure.querySelector("script");
      read.set(figure, { data: JSON.parse(holder.textContent), lists: [null, null] });
    }
    return read.get(figure);
  }
  function unpacked(figure) {
    const whole = contents(figure);
    const { data } = whole, owners = [], values = [];
    for (const key of ["stacks", "steps", "before"]) data[key] = unpack(data[key]);
    for (let at = 0; at < data.stacks.length; at += 2) {
      at += 2 + data.stacks[at + 1];
      owners.push(data.stacks[at]);
      values.push(data.stacks[at + 1]);
    }
    data.owners = Int32Array.from(owners);
    data.values = Float64Array.from(values);
    return whole;
  }
  function namesOf({ data, lists }, lines) {
    return lists[lines ? 1 : 0] = lists[lines ? 1 : 0] || names(data, lines);
  }

  return { amountsIn, found, having, build, fill, byMethod, contents, unpacked, namesOf };
})();
