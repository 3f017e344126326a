// Painting a view: links in shades of load, what is on its way, nodes, and what is chosen.

class Painter {
  constructor(view, colors) {
    this.view = view;
    this.colors = colors;
    this.back = document.createElement("canvas");
    this.key = "";
  }

  shade(k) { return this.dark ? this.lit(k) : this.colors.scale[k]; }

  // On a dark ground little is dark and much is bright.
  lit(k) {
    const f = k / 31, mix = (a, b) => Math.round(a + (b - a) * f);
    return `rgb(${mix(38, 246)},${mix(116, 222)},${mix(122, 92)})`;
  }

  hue(m) {
    const s = this.view.scene;
    return m < 0 ? this.colors.control : this.colors.hues[Math.floor((s.origin[m] * 24) / s.nodes) % 24];
  }

  paint(state) {
    const v = this.view, c = v.canvas, ratio = window.devicePixelRatio || 1;
    v.measure();
    const style = getComputedStyle(document.documentElement);
    for (const name of ["paper", "ink", "muted", "faint", "mark"]) this[name] = style.getPropertyValue(`--${name}`).trim();
    this.dark = document.documentElement.classList.contains("dark");
    const w = Math.round(v.width * ratio), h = Math.round(v.height * ratio);
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    const key = [w, h, v.zoom, v.shift, v.turn, v.solid, this.dark, state.mode,
      state.mode === "past" ? Math.floor(state.t) : state.mode === "now" && v.scene.frames ? v.scene.frameAt(state.t) : ""].join();
    const many = v.scene.linkCount > 4000;
    if (key !== this.key) {
      v.project();
      if (many) this.manyLinks(state, v.width, v.height);
      else this.links(state, w, h, ratio);
      this.key = key;
    }
    const g = c.getContext("2d"), chosen = state.message >= 0 || state.node >= 0;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, w, h);
    g.globalAlpha = chosen ? 0.3 : 1;
    if (many) this.manyMoving(state, chosen);
    g.drawImage(this.back, 0, 0, w, h);
    g.globalAlpha = 1;
    if (many && !chosen) {
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.nodes(g, state, v.radius < 5);
      if (state.link >= 0 && state.link < v.scene.linkCount) this.line(g, [state.link], this.mark, 3);
      return;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.moving(g, state);
    this.nodes(g, state);
    if (state.link >= 0 && state.link < v.scene.linkCount) this.line(g, [state.link], this.mark, 3);
  }

  // The links on a canvas of their own, painted again only when something about them changes.
  links(state, w, h, ratio) {
    const s = this.view.scene, back = this.back;
    back.width = w;
    back.height = h;
    const g = back.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const shades = this.shades(state), wide = Math.max(0.6, Math.min(this.view.unit * 0.09, 5));
    for (const k of [...shades.keys()].sort((a, b) => a - b))
      this.line(g, shades.get(k), k < 0 ? this.faint : this.shade(k), k < 0 ? 0.6 : wide * (0.45 + (0.55 * k) / 31));
  }

  // The links of each shade, -1 for those that nothing crosses.
  shades(state) {
    const s = this.view.scene, shades = new Map(), framed = state.mode === "now" && s.frames;
    const load = state.mode === "past" ? s.past(state.t) : framed ? s.frame(state.t) : s.load, most = framed ? s.frameMost : s.most;
    for (let l = 0; l < s.linkCount; l++) {
      const k = (state.mode === "now" && !framed) || state.mode === "queue" || !load[l] ? -1 : Math.min(31, Math.floor((31.99 * load[l]) / (most || 1)));
      if (!shades.has(k)) shades.set(k, []);
      shades.get(k).push(l);
    }
    return shades;
  }

  manyLinks(state, w, h) {
    const v = this.view, shades = this.shades(state);
    this.back.width = w;
    this.back.height = h;
    this.pixels = new Pixels(w, h);
    const p = this.pixels;
    p.base.fill(p.color(this.paper));
    const wide = Math.min(v.unit * 0.09, 4), chosen = this.thinned(shades, wide);
    for (const k of [...chosen.keys()].sort((a, b) => a - b)) {
      p.pen(k < 0 ? this.faint : this.shade(k), wide);
      for (const l of chosen.get(k)) v.trace(p, l);
    }
    p.pen(this.muted, 2 * v.radius);
    if (v.radius < 5) for (let n = 0; n < v.scene.nodes; n++) p.dot(v.x[n], v.y[n]);
  }

  // Links of each shade that leave most of the picture free: the most loaded first, of those alike every so many.
  thinned(shades, wide) {
    const v = this.view, found = new Map();
    let room = 0.3 * v.width * v.height;
    this.drawn = this.near = 0;
    for (const k of [...shades.keys()].sort((a, b) => b - a)) {
      const links = shades.get(k).filter((l) => v.length(l) > 0), ink = links.reduce((sum, l) => sum + v.length(l), 0) * Math.max(1, Math.round(wide));
      const every = ink > room ? Math.ceil(ink / Math.max(room, 1)) : 1, some = every > links.length ? [] : links.filter((l, i) => i % every === 0);
      found.set(k, some);
      this.drawn += some.length;
      this.near += links.length;
      room -= ink / every;
    }
    return found;
  }

  // The shade of a node in which so many packets wait.
  fill(packets) { return Math.min(31, Math.floor((31.99 * packets) / this.view.scene.queueMost)); }

  // What is on its way, written over the links; none where something is chosen, which is painted by itself.
  manyMoving(state, chosen) {
    const v = this.view, s = v.scene, p = this.pixels, t = state.t, [a, b] = s.around(t);
    p.now.set(p.base);
    p.into = p.now;
    this.shown = 0;
    const wide = Math.min(v.unit * 0.09, 4), traced = state.mode === "now" || s.worms;
    let ink = 0;
    for (let r = a; traced && !chosen && r < b; r++)
      if (s.end[r] > t && s.start[r] <= t) ink += v.length(s.way[s.first[r]]) * Math.max(1, Math.round(wide));
    const every = Math.ceil(ink / (0.3 * v.width * v.height)) || 1;
    for (let r = a; !chosen && r < b; r++) {
      if (s.end[r] <= t || s.start[r] > t) continue;
      this.shown++;
      const hops = s.first[r + 1] - s.first[r], f = ((t - s.start[r]) / (s.end[r] - s.start[r])) * hops;
      const w = Math.min(hops - 1, Math.floor(f)), link = s.way[s.first[r] + w], hue = this.hue(s.message[r]);
      if (traced && this.shown % every === 0) { p.pen(hue, wide); v.trace(p, link); }
      p.pen(hue, Math.max(2, Math.min(v.unit * 0.2, 7)));
      p.dot(...v.point(link, f - w));
    }
    if (state.mode === "queue") {
      const queue = s.waiting(t);
      for (let n = 0; n < s.nodes; n++) if (queue[n]) {
        p.pen(this.shade(this.fill(queue[n])), Math.max(2 * v.radius, 4));
        p.dot(v.x[n], v.y[n]);
      }
    }
    p.into = p.base;
    this.back.getContext("2d").putImageData(p.image, 0, 0);
  }

  // Short paths: long ones are slow to stroke.
  line(g, links, color, width) {
    g.strokeStyle = color;
    g.lineWidth = width;
    for (let i = 0; i < links.length; i += 200) {
      g.beginPath();
      for (const l of links.slice(i, i + 200)) this.view.trace(g, l);
      g.stroke();
    }
  }

  // What is on its way at the time of the state.
  moving(g, state) {
    const v = this.view, s = v.scene, t = state.t;
    if (state.message >= 0 && state.message < s.origin.length) this.tree(g, state);
    const [a, b] = s.around(t), groups = new Map(), worms = new Map();
    const chosen = (r) => (state.message < 0 || s.message[r] === state.message)
      && (state.node < 0 || s.from[r] === state.node || s.to[r] === state.node);
    let shown = 0;
    for (let r = a; r < b; r++) {
      if (s.end[r] <= t || s.start[r] > t || !chosen(r)) continue;
      shown++;
      const color = this.hue(s.message[r]), put = s.first[r + 1] - s.first[r] > 1 ? worms : groups;
      if (!put.has(color)) put.set(color, []);
      put.get(color).push(r);
    }
    this.shown = shown;
    const size = Math.max(2, Math.min(v.unit * 0.13, 9)) * (shown > 4000 ? 0.7 : 1);
    for (const [color, rows] of worms) {
      const links = [];
      for (const r of rows) links.push(...s.way.subarray(s.first[r], s.first[r + 1]));
      this.line(g, links, color, Math.max(1.5, size * 0.5));
    }
    if (state.mode === "now" || s.worms)
      for (const [color, rows] of groups) this.line(g, rows.map((r) => s.way[s.first[r]]), color, Math.max(1.2, size * 0.45));
    for (const set of [groups, worms])
      for (const [color, rows] of set) {
        g.fillStyle = color;
        const round = shown <= 1500, path = round && new Path2D();
        for (const r of rows) {
          const hops = s.first[r + 1] - s.first[r], f = ((t - s.start[r]) / (s.end[r] - s.start[r])) * hops;
          const w = Math.min(hops - 1, Math.floor(f)), [x, y] = v.point(s.way[s.first[r] + w], f - w);
          if (round) { path.moveTo(x + size * 0.55, y); path.arc(x, y, size * 0.55, 0, 7); }
          else g.fillRect(x - size / 2, y - size / 2, size, size);
        }
        if (round) g.fill(path);
        if (round && size > 4) { g.strokeStyle = this.paper; g.lineWidth = 0.8; g.stroke(path); }
      }
  }

  // The way of the chosen message: what it crossed so far in full, what is to come thin.
  tree(g, state) {
    const s = this.view.scene, done = [], later = [];
    for (const r of s.by("message").of(state.message))
      (s.start[r] < state.t ? done : later).push(...s.way.subarray(s.first[r], s.first[r + 1]));
    this.line(g, later, this.faint, 2);
    this.line(g, done, this.hue(state.message), 3);
  }

  nodes(g, state, drawn = false) {
    const v = this.view, s = v.scene, r = v.radius, marked = state.witness ? new Set(s.marked) : null;
    const has = state.message >= 0 && state.message < s.origin.length ? s.holders(state.message, state.t) : null;
    const named = r >= 9 && s.nodes <= 1500;
    const small = drawn || r < 3;
    const plain = new Path2D(), full = new Path2D(), first = new Path2D(), mark = new Path2D();
    for (let n = 0; n < s.nodes; n++) {
      const path = has && has[n] === 2 ? full : has && has[n] === 1 ? first : plain, x = v.x[n], y = v.y[n];
      if (small && path === plain && !(marked && marked.has(n))) continue;
      if (x < -30 || y < -30 || x > v.width + 30 || y > v.height + 30) continue;
      if (n < s.terminals) { path.moveTo(x + r, y); path.arc(x, y, r, 0, 7); }
      else path.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
      if (marked && marked.has(n)) { mark.moveTo(x + r + 3, y); mark.arc(x, y, r + 3, 0, 7); }
    }
    g.fillStyle = r >= 5 ? this.paper : this.muted;
    if (small && !drawn) for (let n = 0; n < s.nodes; n++) g.fillRect(v.x[n] - r, v.y[n] - r, 2 * r, 2 * r);
    else if (!drawn) g.fill(plain);
    const queue = state.mode === "queue" && !has ? s.waiting(state.t) : null;
    for (let n = 0; queue && n < s.nodes; n++) if (queue[n]) {
      g.fillStyle = this.shade(this.fill(queue[n]));
      g.beginPath();
      g.arc(v.x[n], v.y[n], Math.max(r, 2), 0, 7);
      g.fill();
    }
    if (r >= 5) { g.strokeStyle = this.muted; g.lineWidth = 1; g.stroke(plain); }
    if (has) {
      g.fillStyle = this.hue(state.message);
      g.fill(full);
      g.fillStyle = this.mark;
      g.fill(first);
    }
    g.strokeStyle = this.mark;
    g.lineWidth = 2.5;
    if (marked) g.stroke(mark);
    if (state.node >= 0 && state.node < s.nodes) {
      g.beginPath();
      g.arc(v.x[state.node], v.y[state.node], r + 4, 0, 7);
      g.stroke();
    }
    if (!named) return;
    g.textAlign = "center";
    g.textBaseline = "middle";
    for (let n = 0; n < s.nodes; n++) {
      const text = s.names[n].replace(/^\((.*)\)$/, "$1"), size = Math.min(12, (r * 3.1) / text.length);
      if (size < 6) continue;
      g.font = `${size}px system-ui, sans-serif`;
      const dark = queue && queue[n] && (this.dark ? this.fill(queue[n]) < 12 : this.fill(queue[n]) > 10);
      g.fillStyle = (has && has[n]) || dark ? "#fff" : queue && queue[n] ? "#1a1a1a" : this.ink;
      g.fillText(text, v.x[n], v.y[n]);
    }
  }
}
