// The words beside the picture: the whole, or the node, link or message that was chosen.

const HTML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const plain = (text) => String(text).replace(/[&<>"]/g, (c) => HTML[c]);
const count = (n) => n.toLocaleString("en-US");
const list = (rows) => `<dl>${rows.map(([a, b]) => `<dt>${plain(a)}</dt><dd>${b}</dd>`).join("")}</dl>`;
const share = (x) => `${(100 * x).toFixed(1)}%`;

class Panel {
  constructor(box, choose) {
    this.box = box;
    box.addEventListener("click", (event) => {
      const [what, number] = (event.target.dataset.choose || "").split(" ");
      if (what) choose({ [what]: Number(number) });
    });
  }

  show(scene, state) {
    const t = scene.timed ? Math.round(state.t * 4) / 4 : Math.floor(state.t);
    const key = [scene.network, scene.algorithm, state.node, state.link, state.message, t].join();
    if (key === this.key) return;
    this.key = key;
    const s = scene;
    if (state.message >= 0 && state.message < s.origin.length) this.message(s, state.message, t);
    else if (state.node >= 0 && state.node < s.nodes) this.node(s, state.node, t);
    else if (state.link >= 0 && state.link < s.linkCount) this.link(s, state.link, t);
    else this.whole(s, t);
  }

  time(s, ticks) { return `${+(ticks * s.tick).toFixed(s.timed ? 2 : 6)} ${ticks * s.tick === 1 ? s.unit : units(s)}`; }
  toMessage(s, m) { return m < 0 ? "control" : `<a data-choose="message ${m}">${plain(s.messageName(m))}</a>`; }
  toNode(s, v) { return `<a data-choose="node ${v}">${plain(s.name(v))}</a>`; }
  toLink(s, l) { return `<a data-choose="link ${l}">${plain(s.linkName(l))}</a>`; }

  whole(s, t) {
    const done = s.lower(t), [a, b] = s.around(t);
    let now = 0;
    for (let r = a; r < b; r++) if (s.start[r] <= t && s.end[r] > t) now++;
    const waits = s.since.length ? s.waiting(t).reduce((n, q) => n + q, 0) : -1;
    const phase = a < s.count ? s.phases[s.phase[Math.min(Math.max(done, a), s.count - 1)]] : "";
    const busiest = s.load.indexOf(s.most);
    this.box.innerHTML = `<h2>${plain(s.task)}</h2>` + list([
      ["network", plain(s.network)],
      ["nodes, links", `${count(s.all ?? s.nodes)}, ${count(s.links)}`],
      [s.worms ? "routing" : s.timed ? "scheme" : "algorithm", plain(s.algorithm)],
      ["time", `<b id="time">${s.time}</b> ${units(s)}`],
      ...(s.timed ? [] : [["bound", s.bound === null ? "-" : `<span id="bound">${s.bound}</span>`]]),
      [s.worms ? "channels held" : s.timed ? "transmissions" : "hops", `<span id="hops">${count(s.rows)}</span>`],
      ...(s.frames ? [] : [["begun", `${count(s.lower(t, true))}`], ["on their way", `<span id="moving">${count(now)}</span>`]]),
      ...(waits < 0 ? [] : [["wait in nodes", `<span id="waiting">${count(waits)}</span>`]]),
      ...(phase ? [["phase", plain(phase)]] : []),
      ["most load", s.most ? `${+s.most.toFixed(3)} on ${this.toLink(s, busiest)}` : "-"],
    ]) + (s.witness ? `<h3>why no schedule is faster than the bound</h3>${plain(s.witness)}` : "")
      + `<h3>more</h3>` + list(s.facts.map(([k, v]) => [k, plain(v)]));
  }

  // Of a node or link where hops are counted only: what crosses by and by.
  counts(s, links, name, t) {
    const load = links.reduce((n, l) => n + s.packets[l], 0), now = links.reduce((n, l) => n + s.frames[s.frameAt(t) * s.linkCount + l], 0);
    this.box.innerHTML = `<h2>${plain(name)}</h2>` + list([
      ["packets", `<span id="packets">${count(load)}</span>`],
      [s.each === 1 ? "in this slot" : `in these ${s.each} slots`, `<span id="now">${count(now)}</span>`],
    ]) + "<h3>over time</h3><canvas></canvas><h3>why only counts</h3>The schedule has more hops than a page takes one by one.";
    const steps = [...Array(s.parts).keys()].map((k) => links.reduce((n, l) => n + s.frames[k * s.linkCount + l], 0));
    this.curve(s, steps.map((n, k) => [k * s.each, n - (k ? steps[k - 1] : 0)]), t);
  }

  node(s, v, t) {
    if (s.frames) return this.counts(s, [...s.target.keys()].filter((l) => s.target[l] === v), `into ${s.name(v)}`, t);
    const at = s.at(v, t), came = s.by("to").of(v), left = s.by("from").of(v);
    const next = [...came].filter((r) => s.start[r] <= t && s.end[r] > t), out = [...left].filter((r) => s.start[r] <= t && s.end[r] > t);
    const life = [...came, ...left].sort((a, b) => s.start[a] - s.start[b]);
    const from = life.findIndex((r) => s.end[r] > t), some = life.slice(Math.max(0, from), Math.max(0, from) + 12);
    this.box.innerHTML = `<h2>${v < s.terminals ? "node" : "switch"} ${plain(s.name(v))}</h2>` + list([
      ["came so far", `<span id="came">${count(at.came)}</span>`],
      ["wait to leave", `<span id="waits">${count(s.timed ? s.waiting(t)[v] : at.waits)}</span>`],
      ["in all", `${count(came.length)} come, ${count(left.length)} leave`],
      ["comes now", next.slice(0, 8).map((r) => this.toMessage(s, s.message[r])).join("<br>") || "-"],
      ["leaves now", out.slice(0, 8).map((r) => this.toMessage(s, s.message[r])).join("<br>") || "-"],
    ]) + `<h3>${s.timed ? "what waits in it" : "holdings"} over time</h3><canvas></canvas><h3>its life from here</h3>` + list(some.map((r) => [
      this.time(s, s.start[r]),
      `${s.to[r] === v ? `from ${this.toNode(s, s.from[r])}` : `to ${this.toNode(s, s.to[r])}`}: ${this.toMessage(s, s.message[r])}`,
    ]));
    if (s.timed) {
      this.curve(s, s.waits(s.spot, v), t);
      return;
    }
    const times = [...came].filter((r) => s.message[r] >= 0).map((r) => [s.end[r], 1]);
    for (const r of left) if (s.message[r] >= 0 && s.kind[s.message[r]] === s.moves) times.push([s.start[r], -1]);
    const own = s.origin.reduce((n, o, m) => n + (o === v && s.kind[m] < 2), 0);
    this.curve(s, times, t, own);
  }

  link(s, l, t) {
    if (s.frames) return this.counts(s, [l], `link ${s.linkName(l)}`, t);
    const rows = [...s.by("link").of(l)], now = rows.filter((r) => s.start[r] <= t && s.end[r] > t);
    const busy = rows.reduce((sum, r) => sum + (s.end[r] - s.start[r]) * (s.weight.length ? s.weight[r] : 1), 0) / ((s.ticks || 1) * s.capacity[l]);
    const next = rows.findIndex((r) => s.end[r] > t);
    this.box.innerHTML = `<h2>link ${plain(s.linkName(l))}</h2>` + list([
      ["capacity", s.capacity[l]],
      ["packets", `<span id="packets">${count(s.packets[l])}</span>`],
      ["load", +s.load[l].toFixed(3)],
      ["busy", `<span id="busy">${share(busy)}</span> of the time`],
      ["carries now", now.slice(0, 8).map((r) => this.toMessage(s, s.message[r])).join("<br>") || "-"],
      ["ends", `${this.toNode(s, s.source[l])}, ${this.toNode(s, s.target[l])}`],
      ...(s.gate.length ? [["wait for it", `<span id="queue">${count(s.gate.reduce((n, g, i) => n + (g === l && s.since[i] <= t && s.until[i] > t), 0))}</span>`]] : []),
    ]) + `<h3>${s.gate.length ? "its queue over time" : "occupancy"}</h3><canvas></canvas><h3>from here</h3>` + list(rows.slice(Math.max(0, next), Math.max(0, next) + 12)
      .map((r) => [this.time(s, s.start[r]), this.toMessage(s, s.message[r])]));
    this.curve(s, s.gate.length ? s.waits(s.gate, l) : rows.flatMap((r) => [[s.start[r], 1], [s.end[r], -1]]), t);
  }

  message(s, m, t) {
    const rows = [...s.by("message").of(m)], has = s.holders(m, t);
    const begun = rows.filter((r) => s.start[r] <= t).length, there = has.reduce((n, h) => n + (h > 0), 0);
    this.box.innerHTML = `<h2>message ${plain(s.messageName(m))}</h2>` + list([
      [s.kind[m] === 2 ? "ends at" : "begins at", s.kind[m] === 3 ? "all that contribute" : this.toNode(s, s.origin[m])],
      ["goes to", s.goal[m] >= 0 ? this.toNode(s, s.goal[m]) : s.kind[m] === 2 ? "the root" : "all that need it"],
      ["hops", `${count(begun)} of <span id="all">${count(rows.length)}</span>`],
      [s.kind[m] === 1 ? "is at" : "nodes with it", s.kind[m] === 1 ? [...has.keys()].filter((v) => has[v]).map((v) => this.toNode(s, v)).join(", ") || "its way" : `<span id="reached">${count(there)}</span>`],
      ["all there", this.time(s, rows.reduce((n, r) => Math.max(n, s.end[r]), 0))],
    ]) + "<h3>its way</h3>" + list(rows.slice(0, 200).map((r) => [
      this.time(s, s.start[r]), `${this.toNode(s, s.from[r])} \u2192 ${this.toNode(s, s.to[r])}${s.carried.length && s.carried[r] >= 0
        ? `, ${s.carried[r]} of ${s.whole[r]} contributions: then ${s.there[r]} there` : ""}`,
    ]));
  }

  // A curve of changes (time, by how much) over the whole schedule, with the present marked.
  curve(s, changes, t, level = 0) {
    const c = this.box.querySelector("canvas"), ratio = window.devicePixelRatio || 1;
    c.width = c.clientWidth * ratio;
    c.height = c.clientHeight * ratio;
    const g = c.getContext("2d"), style = getComputedStyle(document.documentElement);
    changes.sort((a, b) => a[0] - b[0]);
    const points = [[0, level]];
    let most = Math.max(1, level);
    for (const [at, by] of changes) {
      points.push([at, level]);
      level += by;
      most = Math.max(most, level);
      points.push([at, level]);
    }
    points.push([s.ticks, level]);
    const x = (a) => (a / (s.ticks || 1)) * c.width, y = (n) => c.height - 2 - (n / most) * (c.height - 14 * ratio);
    g.strokeStyle = g.fillStyle = style.getPropertyValue("--ink");
    g.lineWidth = ratio;
    g.beginPath();
    points.forEach(([a, n], i) => (i ? g.lineTo(x(a), y(n)) : g.moveTo(x(a), y(n))));
    g.stroke();
    g.font = `${10 * ratio}px system-ui`;
    g.fillText(`most ${most}`, 2, 10 * ratio);
    g.strokeStyle = style.getPropertyValue("--mark");
    g.strokeRect(x(t), 0, 0.5, c.height);
  }
}
