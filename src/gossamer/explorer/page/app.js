// The page: time, what is chosen, keys and pointers, and the address that keeps them.

// The unit of several: "steps", or a unit of seconds as it is.
const units = (s) => s.units || `${s.unit}s`;

class App {
  constructor(data) {
    this.scenes = data.scenes;
    this.state = { t: 0, node: -1, link: -1, message: -1, mode: "load", witness: false, playing: false, shown: 0 };
    this.ticks = Math.max(1, ...this.scenes.map((s) => s.ticks));
    this.el = (id) => document.getElementById(id);
    const stage = this.el("stage");
    this.painters = this.scenes.map((scene, k) => {
      const box = document.createElement("div");
      box.innerHTML = `<canvas aria-label="network"></canvas><span class="name"></span><span class="key"></span>`;
      box.querySelector(".name").textContent = this.scenes.length > 1 ? scene.headline || `${scene.algorithm}: ${scene.time} ${units(scene)}` : "";
      stage.append(box);
      const view = new View(scene, box);
      this.pointers(view, k);
      return new Painter(view, data.colors);
    });
    this.panel = new Panel(this.el("panel"), (chosen) => this.choose(chosen));
    const numbers = this.scenes.map((s) => s.headline ? plain(s.headline) : `<b>${s.time}</b> ${units(s)}`
      + (s.bound === null ? "" : s.met ? ", which meets the bound: optimal" : `, bound ${s.bound}`) + `, ${plain(s.algorithm)}, verified`);
    this.el("numbers").innerHTML = numbers.join(" &nbsp;|&nbsp; ");
    if (!this.scenes.some((s) => s.since.length)) this.el("mode").querySelector("[value=queue]").remove();
    this.el("slider").max = this.ticks;
    if (!this.scenes.some((s) => s.space.length)) this.el("solid").hidden = true;
    if (!this.scenes.some((s) => s.marked.length)) this.el("witness").hidden = true;
    this.controls();
    this.recall();
    this.keys();
    new ResizeObserver(() => this.dirty()).observe(stage);
    this.frames = [];
    this.before = performance.now();
    this.dirty();
    document.documentElement.dataset.ready = "yes";
  }

  dirty() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => { this.asked = false; this.frame(now); });
  }

  frame(now) {
    const s = this.state;
    if (s.playing) {
      // at speed 1 a tick lasts 0.6 s, but the whole takes at most 40 s
      const pace = Math.max(1 / 600, this.ticks / 40000) * Number(this.el("speed").value);
      s.t = Math.min(this.ticks, s.t + Math.min(now - this.before, 100) * pace);
      if (s.t >= this.ticks) this.play(false);
      else this.dirty();
    }
    this.before = now;
    const began = performance.now();
    for (const p of this.painters) p.paint({ ...s, t: Math.min(s.t, p.view.scene.ticks) });
    this.strip();
    const scene = this.scenes[s.shown];
    this.panel.show(scene, s);
    this.el("slider").value = s.t;
    const past = `time ${+(s.t * scene.tick).toFixed(2)} of ${+(this.ticks * scene.tick).toFixed(4)}${scene.units ? ` ${scene.units}` : ""}`;
    this.el("clock").textContent = scene.timed ? past : `slot ${Math.min(Math.floor(s.t), this.ticks - 1)}, ${past}`;
    this.legend();
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
    if (!s.playing) this.remember();
  }

  legend() {
    const key = [this.state.mode, document.documentElement.className, ...this.painters.map((p) => [p.drawn, p.near])].join();
    if (key === this.legendKey) return;
    this.legendKey = key;
    for (const p of this.painters) {
      const s = p.view.scene, stops = [0, 8, 16, 24, 31].map((k) => p.shade(k)).join(",");
      p.view.box.querySelector(".key").innerHTML = this.state.mode === "now" && s.frames ? `load 0<i style="background:linear-gradient(90deg,${stops})"></i>${+s.frameMost.toFixed(2)} packets in ${s.each === 1 ? "a slot" : `${s.each} slots`}`
        : this.state.mode === "now" ? "the color of a packet is that of its origin"
        : this.state.mode === "queue" ? `in a node wait 0<i style="background:linear-gradient(90deg,${stops})"></i>${s.queueMost} packets`
        : `load 0<i style="background:linear-gradient(90deg,${stops})"></i>${+s.most.toFixed(2)} packets over ${this.state.mode === "past" ? "the time so far" : s.timed ? "the whole time" : "the whole schedule"}`;
      if (p.drawn < p.near) p.view.box.querySelector(".key").append(`; ${p.drawn.toLocaleString("en")} of ${p.near.toLocaleString("en")} links drawn, the most loaded first`);
    }
  }

  // Below: the share of all links in use, and a line for the packets that wait in nodes.
  strip() {
    const c = this.el("strip"), ratio = window.devicePixelRatio || 1, w = c.clientWidth * ratio, h = c.clientHeight * ratio;
    const style = getComputedStyle(document.documentElement), g = c.getContext("2d");
    if (c.width !== w) c.width = w;
    if (c.height !== h) c.height = h;
    const s = this.scenes[this.state.shown], part = s.ticks / this.ticks, n = s.busy.length, high = h - 15 * ratio;
    g.clearRect(0, 0, w, h);
    const painter = this.painters[this.state.shown];
    g.fillStyle = painter.shade(20);
    for (let k = 0; k < n; k++) {
      const x = (k / n) * w * part;
      g.fillRect(x, h - s.busy[k] * high, (w * part) / n + 0.5, s.busy[k] * high);
    }
    const held = s.held, most = held.reduce((a, b) => Math.max(a, b), 0);
    g.strokeStyle = style.getPropertyValue("--mark");
    g.lineWidth = 1.5 * ratio;
    if (most) {
      g.beginPath();
      held.forEach((v, k) => {
        const x = (k / (held.length - 1)) * w * part, y = h - (v / most) * high;
        k ? g.lineTo(x, y) : g.moveTo(x, y);
      });
      g.stroke();
    }
    g.fillStyle = style.getPropertyValue("--muted");
    g.font = `${10.5 * ratio}px system-ui, sans-serif`;
    const peak = s.held_peak >= 0 ? `, at most ${s.held_peak} in a node` : "";
    g.fillText(`links in use, of 100%` + (most ? `; line: packets that wait in nodes, at most ${count(most)} in all${peak}` : ""), 2, 9 * ratio);
    g.fillStyle = style.getPropertyValue("--ink");
    g.fillRect((this.state.t / this.ticks) * w - ratio / 2, 0, ratio, h);
  }

  seek(t) { this.state.t = Math.min(this.ticks, Math.max(0, t)); this.dirty(); }

  play(on) {
    this.state.playing = on;
    this.before = performance.now();
    if (on && this.state.t >= this.ticks) this.state.t = 0;
    this.el("play").innerHTML = on ? "&#x25A0;" : "&#x25B6;";
    this.dirty();
  }

  choose(chosen) {
    Object.assign(this.state, { node: -1, link: -1, message: -1 }, chosen || {});
    this.dirty();
  }

  controls() {
    const on = (id, what) => this.el(id).addEventListener("click", what);
    on("play", () => this.play(!this.state.playing));
    on("first", () => this.seek(0));
    on("last", () => this.seek(this.ticks));
    on("back", () => this.seek(Math.ceil(this.state.t) - 1));
    on("next", () => this.seek(Math.floor(this.state.t) + 1));
    on("witness", () => { this.state.witness = !this.state.witness; this.pressed(); });
    on("solid", () => { for (const p of this.painters) p.view.solid = !p.view.solid && !!p.view.deep; this.pressed(); });
    on("fit", () => { for (const { view } of this.painters) { view.zoom = 1; view.shift = [0, 0]; view.turn = [-0.62, 0.33]; } this.dirty(); });
    on("theme", () => { document.documentElement.classList.toggle("dark"); this.panel.key = ""; this.dirty(); });
    on("help", () => { this.el("keys").hidden = !this.el("keys").hidden; this.dirty(); });
    this.el("mode").addEventListener("change", (e) => { this.state.mode = e.target.value; this.dirty(); });
    this.el("slider").addEventListener("input", (e) => this.seek(Number(e.target.value)));
    const pull = (e) => { if (e.buttons) this.seek(((e.clientX - e.target.getBoundingClientRect().left) / e.target.clientWidth) * this.ticks); };
    this.el("strip").addEventListener("pointerdown", pull);
    this.el("strip").addEventListener("pointermove", pull);
  }

  pressed() {
    this.el("witness").setAttribute("aria-pressed", this.state.witness);
    this.el("solid").setAttribute("aria-pressed", this.painters.some((p) => p.view.solid));
    this.dirty();
  }

  keys() {
    const press = { w: "witness", 3: "solid", f: "fit", d: "theme", "?": "help", Home: "first", End: "last", ArrowLeft: "back", ArrowRight: "next", " ": "play" };
    const modes = { l: "load", p: "past", n: "now", q: "queue" };
    document.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT") return;
      if (e.target.id === "slider" && e.key.startsWith("Arrow")) e.target.blur();
      if (e.target.tagName === "BUTTON" && e.key === " ") return;
      if (press[e.key]) this.el(press[e.key]).click();
      else if (modes[e.key] && this.el("mode").querySelector(`[value=${modes[e.key]}]`)) { this.state.mode = this.el("mode").value = modes[e.key]; this.dirty(); }
      else if (e.key === "Escape") this.choose(null);
      else if (e.key === "+" || e.key === "-") { for (const p of this.painters) p.view.zoom *= e.key === "+" ? 1.25 : 0.8; this.dirty(); }
      else return;
      e.preventDefault();
    });
  }

  pointers(view, k) {
    const down = new Map(), canvas = view.canvas;
    let moved = 0, apart = 0;
    const zoom = (by, px, py) => {
      const x = px - view.width / 2 - view.shift[0], y = py - view.height / 2 - view.shift[1];
      const z = Math.min(60, Math.max(0.2, view.zoom * by)), f = z / view.zoom;
      view.shift = [view.shift[0] - x * (f - 1), view.shift[1] - y * (f - 1)];
      view.zoom = z;
      this.dirty();
    };
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); down.set(e.pointerId, [e.clientX, e.clientY]); moved = apart = 0; });
    canvas.addEventListener("pointermove", (e) => {
      const at = down.get(e.pointerId);
      if (!at) return;
      const dx = e.clientX - at[0], dy = e.clientY - at[1];
      down.set(e.pointerId, [e.clientX, e.clientY]);
      moved += Math.abs(dx) + Math.abs(dy);
      if (down.size > 1) {
        const [a, b] = [...down.values()], far = Math.hypot(a[0] - b[0], a[1] - b[1]), box = canvas.getBoundingClientRect();
        if (apart) zoom(far / apart, (a[0] + b[0]) / 2 - box.left, (a[1] + b[1]) / 2 - box.top);
        apart = far;
      } else if (view.solid && !e.shiftKey) view.turn = [view.turn[0] + dx * 0.008, Math.max(-1.5, Math.min(1.5, view.turn[1] + dy * 0.008))];
      else view.shift = [view.shift[0] + dx, view.shift[1] + dy];
      this.dirty();
    });
    const up = (e) => {
      if (down.delete(e.pointerId) && moved < 6 && e.type === "pointerup") {
        const box = canvas.getBoundingClientRect();
        this.state.shown = k;
        this.choose(view.under(e.clientX - box.left, e.clientY - box.top));
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
    }, { passive: false });
  }

  // The address keeps time, choice and view.
  remember() {
    const s = this.state, v = this.painters[0].view, words = [`t=${+s.t.toFixed(3)}`];
    for (const what of ["node", "link", "message", "shown"]) if (s[what] > 0 || (s[what] === 0 && what !== "shown")) words.push(`${what}=${s[what]}`);
    if (s.mode !== "load") words.push(`mode=${s.mode}`);
    if (s.witness) words.push("witness=1");
    if (v.solid) words.push(`turn=${v.turn.map((a) => a.toFixed(2))}`);
    if (v.zoom !== 1 || v.shift[0] || v.shift[1]) words.push(`view=${[v.zoom, ...v.shift].map((a) => +a.toFixed(2))}`);
    const theme = document.documentElement.classList.contains("dark");
    if (theme !== this.darkByItself) words.push(`theme=${theme ? "dark" : "light"}`);
    try { history.replaceState(null, "", `#${words.join("&")}`); } catch (refused) { /* inside another page */ }
  }

  recall() {
    this.darkByItself = window.matchMedia("(prefers-color-scheme: dark)").matches;
    const words = new URLSearchParams(location.hash.slice(1)), s = this.state;
    const number = (name, low, high) => {
      const n = Number(words.get(name));
      return words.has(name) && Number.isFinite(n) && n >= low && n <= high ? n : null;
    };
    s.t = number("t", 0, this.ticks) ?? 0;
    s.shown = Math.floor(number("shown", 0, this.scenes.length - 1) ?? 0);
    const scene = this.scenes[s.shown], sizes = { node: scene.nodes, link: scene.linkCount, message: scene.origin.length };
    for (const what of ["node", "link", "message"]) s[what] = Math.floor(number(what, 0, sizes[what] - 1) ?? -1);
    if (["load", "past", "now", "queue"].includes(words.get("mode")) && this.el("mode").querySelector(`[value=${words.get("mode")}]`)) s.mode = this.el("mode").value = words.get("mode");
    s.witness = words.get("witness") === "1";
    const some = (name, size) => {
      const found = (words.get(name) || "").split(",").map(Number);
      return found.length === size && found.every(Number.isFinite) && words.get(name) ? found : null;
    };
    const turn = some("turn", 2), view = some("view", 3);
    for (const { view: v } of this.painters) {
      if (turn && v.deep) { v.solid = true; v.turn = turn; }
      if (view && view[0] > 0) [v.zoom, v.shift] = [Math.min(60, Math.max(0.2, view[0])), view.slice(1)];
    }
    const theme = words.get("theme");
    document.documentElement.classList.toggle("dark", theme ? theme === "dark" : this.darkByItself);
    this.pressed();
  }
}

unpack().then((data) => { window.explorer = new App(data); }).catch((error) => {
  document.getElementById("numbers").textContent = `this browser cannot show the page: ${error.message}`;
  throw error;
});
