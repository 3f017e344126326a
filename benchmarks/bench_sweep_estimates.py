"""How close the estimates of ``gossamer sweep --dry-run`` are to what the studies that ship then take.

    python benchmarks/bench_sweep_estimates.py [STUDY ...]

For each study: points, seconds estimated and measured, and estimated over measured; CPU time of one process. Every
study runs twice, and the second run counts, so that all kernels are compiled. Without names all of examples/studies
but those of 512 nodes, some minutes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from gossamer.studies.sweeps import point_kinds as networks
from gossamer.studies.sweeps import sweep
from gossamer.studies.sweeps.study import estimated, read_study

STUDIES = Path(__file__).parents[1] / "examples" / "studies"
LONG = ("networks_of_512", "accelerators_512", "accelerators_4096")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", type=Path)
    asked = parser.parse_args().studies
    asked = asked or sorted(p for p in STUDIES.glob("*.toml") if p.stem not in LONG)
    print(f"{'study':26}{'points':>8}{'s est.':>9}{'s':>9}{'ratio':>7}{'s to estimate':>15}")
    for path in asked:
        points = list(read_study(path).points())
        sweep(points, engine="in-process")
        networks._distant.cache_clear()  # what a first run would not know
        networks._built.cache_clear()
        began = time.process_time()
        found = estimated(points, set())
        spent = time.process_time() - began
        networks._distant.cache_clear()
        began = time.process_time()
        sweep(points, engine="in-process")
        seconds = time.process_time() - began
        row = f"{path.stem:26}{len(points):8}{found.seconds:9.1f}{seconds:9.1f}{found.seconds / seconds:7.2f}"
        print(f"{row}{spent:15.1f}", flush=True)


if __name__ == "__main__":
    main()
