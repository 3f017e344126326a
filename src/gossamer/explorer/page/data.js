// The columns of each scene, unpacked, and what is counted of them once.

async function unpack() {
  const head = JSON.parse(document.getElementById("head").textContent);
  const text = document.getElementById("columns").textContent.trim();
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = await new Response(stream).arrayBuffer();
  const kinds = { Float32Array, Float64Array, Uint32Array, Int32Array, Uint8Array };
  head.scenes = head.scenes.map((scene) => {
    for (const [name, [kind, at, size]] of Object.entries(scene.columns)) scene[name] = new kinds[kind](bytes, at, size);
    return new Schedule(scene);
  });
  return head;
}

// Rows of `key` grouped by value: {first, row}, rows of one value in their order.
function grouped(key, count) {
  const first = new Int32Array(count + 1);
  for (const k of key) if (k >= 0) first[k + 1]++;
  for (let i = 0; i < count; i++) first[i + 1] += first[i];
  const at = first.slice(), row = new Int32Array(first[count]);
  for (let r = 0; r < key.length; r++) if (key[r] >= 0) row[at[key[r]]++] = r;
  return { first, row, of: (k) => row.subarray(first[k], first[k + 1]) };
}

class Schedule {
  constructor(scene) {
    Object.assign(this, scene);
    this.count = this.start.length;
    this.linkCount = this.source.length;
    this.spread();
    this.longest = 0;
    for (let r = 0; r < this.count; r++) this.longest = Math.max(this.longest, this.end[r] - this.start[r]);
    this.load = new Float32Array(this.linkCount);  // packets over the whole schedule, by capacity
    this.packets = new Int32Array(this.linkCount);
    for (let r = 0; r < this.count; r++)
      if (this.message[r] >= 0) for (let w = this.first[r]; w < this.first[r + 1]; w++) this.packets[this.way[w]]++;
    if (this.crossed) this.packets.set(this.crossed);
    if (this.frames) this.counted();
    this.most = 0;
    for (let l = 0; l < this.linkCount; l++) {
      this.load[l] = this.packets[l] / this.capacity[l];
      this.most = Math.max(this.most, this.load[l]);
    }
    this.groups = {};
    this.timed = this.switching === "simulation";
    this.queue = new Int32Array(this.nodes);
    this.queueMost = Math.max(1, this.held_peak);
  }

  // Of too many hops to be here one by one: what each link carries in each part of the time.
  counted() {
    this.parts = this.frames.length / this.linkCount;
    this.frameMost = 1;
    for (let i = 0; i < this.frames.length; i++) this.frameMost = Math.max(this.frameMost, this.frames[i] / this.capacity[i % this.linkCount]);
  }
  frameAt(t) { return Math.min(this.parts - 1, Math.floor(t / this.each)); }
  frame(t) {
    const load = new Float32Array(this.linkCount), from = this.frameAt(t) * this.linkCount;
    for (let l = 0; l < this.linkCount; l++) load[l] = this.frames[from + l] / this.capacity[l];
    return load;
  }

  // How many packets wait in each node at time t; what comes and leaves again at once is there at that time.
  waiting(t) {
    this.queue.fill(0);
    for (let i = 0; i < this.since.length && this.since[i] <= t; i++)
      if (this.until[i] > t || (!this.timed && this.until[i] >= t)) this.queue[this.spot[i]]++;
    return this.queue;
  }

  // The changes of what waits in a node, or for a link: [time, by how much].
  waits(of, number) {
    const found = [];
    for (let i = 0; i < of.length; i++) if (of[i] === number) found.push([this.since[i], 1], [this.until[i], -1]);
    return found;
  }

  // Columns that the others say are left out of the file.
  spread() {
    if (!this.end.length) this.end = this.start.map((t) => t + this.lasts);
    if (this.first.length) return;
    this.first = new Int32Array(this.count + 1).map((_, r) => r);
    this.from = this.way.map((l) => this.source[l]);
    this.to = this.way.map((l) => this.target[l]);
  }

  // Rows by message, by node where they end or begin, or by link; made when first asked for.
  by(what) {
    if (this.groups[what]) return this.groups[what];
    if (what === "link") {
      const row = new Int32Array(this.way.length);
      for (let r = 0; r < this.count; r++) row.fill(r, this.first[r], this.first[r + 1]);
      const g = grouped(this.way, this.linkCount);
      for (let i = 0; i < g.row.length; i++) g.row[i] = row[g.row[i]];
      return (this.groups[what] = g);
    }
    const key = { message: this.message, to: this.to, from: this.from }[what];
    return (this.groups[what] = grouped(key, what === "message" ? this.origin.length : this.nodes));
  }

  // The rows that may be on their way at time t: [first, last).
  around(t) { return [this.lower(t - this.longest), this.lower(t, true)]; }

  // The first row that starts at t or later, or later than t.
  lower(t, after = false) {
    let a = 0, b = this.count;
    while (a < b) {
      const m = (a + b) >> 1;
      if (after ? this.start[m] <= t : this.start[m] < t) a = m + 1; else b = m;
    }
    return a;
  }

  // How much has crossed each link by time t.
  past(t) {
    const load = new Float32Array(this.linkCount), last = this.lower(t);
    if (this.frames) for (let i = 0, n = (t >= this.ticks ? this.parts : Math.floor(t / this.each)) * this.linkCount; i < n; i++)
      load[i % this.linkCount] += this.frames[i] / this.capacity[i % this.linkCount];
    for (let r = 0; r < last; r++)
      if (this.message[r] >= 0 && this.end[r] <= t)
        for (let w = this.first[r]; w < this.first[r + 1]; w++) load[this.way[w]] += 1 / this.capacity[this.way[w]];
    return load;
  }

  // What a node has of whole packets at time t: own ones, those that came and are there, and what waits to leave.
  at(node, t) {
    const own = [], there = new Map(), waits = new Map();
    for (const r of this.by("to").of(node)) {
      if (this.message[r] < 0 || this.end[r] > t) continue;
      there.set(this.message[r] * 65536 + this.part[r], this.end[r]);
    }
    for (const r of this.by("from").of(node)) {
      const p = this.message[r] * 65536 + this.part[r];
      if (this.message[r] < 0) continue;
      const moves = this.kind[this.message[r]] === this.moves;
      if (this.start[r] >= t) {
        if (there.has(p) && !(moves && waits.has(p))) waits.set(p, this.start[r]);
      } else if (moves && there.has(p) && there.get(p) <= this.start[r]) there.delete(p);
    }
    for (const p of waits.keys()) if (!there.has(p)) waits.delete(p);
    return { came: there.size, waits: waits.size, own };
  }

  // The nodes that have a message at time t: 1 its origin, 2 those to whom it came; of a sum without a root those that
  // have all of it.
  holders(m, t) {
    const has = new Uint8Array(this.nodes), moves = this.kind[m] === this.moves;
    if (this.kind[m] !== 3) has[this.origin[m]] = 1;
    for (const r of this.by("message").of(m)) {
      if (this.kind[m] === 3 && (!this.there.length || this.there[r] < this.whole[r])) continue;
      if (moves && this.start[r] <= t) has[this.from[r]] = 0;
      if (this.end[r] <= t) has[this.to[r]] = 2;
    }
    return has;
  }

  name(node) { return this.names[node]; }
  linkName(l) { return `${this.name(this.source[l])} \u2192 ${this.name(this.target[l])}`; }
  messageName(m) {
    const to = this.goal[m] >= 0 ? ` \u2192 ${this.name(this.goal[m])}` : "";
    if (this.kind[m] === 3) return `${this.id[m]}: sum for all`;
    return `${this.id[m]}: ${this.kind[m] === 2 ? "to" : "of"} ${this.name(this.origin[m])}${to}`;
  }
}
