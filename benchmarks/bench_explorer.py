"""How smooth the explorer is in a real browser: 4,096 nodes and a million hops, played.

    python benchmarks/bench_explorer.py [--seconds 6]

Needs the extra ``browser`` and chromium. Prints the size of the page, how long it takes to open, and for each way of
coloring the links the median and the 95th percentile of what a frame costs the page, and of the time from a frame to
the next. The aim is a frame in 16.7 ms of the page's own time; without a graphics processor the browser's painting
comes on top.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

import gossamer
from gossamer.explorer import explore
from gossamer.simulation.random_arrivals import Settings, record
from gossamer.simulation.random_arrivals.schemes import scheme

PLAY = """(seconds) => new Promise((done) => {
  const gaps = [];
  let before = 0, began = 0;
  explorer.frames.length = 0;
  explorer.seek(explorer.ticks * 0.3);
  explorer.play(true);
  const frame = (now) => {
    began = began || now;
    if (before) gaps.push(now - before);
    before = now;
    if (now - began < 1000 * seconds) requestAnimationFrame(frame);
    else { explorer.play(false); done({ gaps, frames: explorer.frames.slice() }); }
  };
  requestAnimationFrame(frame);
})"""


def pages(folder: Path) -> dict[str, Path]:
    """Return the pages that are played, by what they show."""
    active = np.random.default_rng(0).choice(4096, 245, replace=False).tolist()
    task = gossamer.task("partial-multinode-broadcast", active=sorted(active))
    plan = gossamer.plan("torus:64x64", task, algorithm="greedy-flooding")
    torus = gossamer.network("torus:64x64")
    shown = {
        f"{plan.schedule.hop_count:,} hops on torus:64x64": plan,
        "broadcasts at random on torus:64x64": record(
            scheme("priority", torus), load=0.8, settings=Settings(steps=60, warmup=40)
        ),
    }
    found = {}
    for k, (name, thing) in enumerate(shown.items()):
        found[name] = folder / f"{k}.html"
        explore(thing, found[name])
    return found


def main() -> None:
    """Open each page, play it in every mode, and print the figures."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each mode is played")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        made = pages(Path(folder))
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path in made.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            opened = time.perf_counter() - began
            print(f"{name}: {path.stat().st_size / 1e6:.1f} MB, opens in {opened:.1f} s")
            modes = page.eval_on_selector_all("#mode option", "(all) => all.map((one) => one.value)")
            for mode in modes:
                page.select_option("#mode", mode)
                got = page.evaluate(PLAY, seconds)
                own, gaps = (np.array(got[k]) for k in ("frames", "gaps"))
                print(
                    f"  {mode:6} a frame {np.median(own):5.1f} ms, 95% within {np.percentile(own, 95):5.1f}; "
                    f"from frame to frame {np.median(gaps):5.1f} ms, 95% within {np.percentile(gaps, 95):5.1f}"
                )
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
