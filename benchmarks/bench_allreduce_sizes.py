"""Allreduce from 64 B to 64 MiB: time, bound and form of the plan, and the best algorithm of the textbooks beside it.

    python benchmarks/bench_allreduce_sizes.py [--only WORD] [--bytes SIZE ...]

The last column is the plan's time as a multiple of the textbook's (`textbook_allreduce`); more than 1 is marked.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from textbook_allreduce import links_of, links_of_file, textbook

import gossamer
from gossamer.networks import as_network
from gossamer.reading.quantities import size as byte_count

SIZES = ("64B", "4KiB", "64KiB", "1MiB", "64MiB")
SERVERS = Path(__file__).resolve().parents[1] / "examples" / "machines" / "two_servers.edges"


class Place(NamedTuple):
    """A network, the sides of its grid of ranks, and the ranks of a server or a leaf."""

    network: str
    sides: tuple[int, ...]
    inside: int = 1


PLACES = (
    Place("hypercube:6", (2,) * 6),
    Place("torus:8x8", (8, 8)),
    Place("torus:4x4x4", (4, 4, 4)),
    Place("ring:16", (16,)),
    Place("complete:8", (8,)),
    Place(str(SERVERS), (16,), 8),
    Place("leaf-spine:leaves=6,spines=2,hosts=4", (24,), 4),
)


class Row(NamedTuple):
    """What a plan takes, its bound and form, and the best of the textbooks; times in seconds."""

    seconds: float
    bound: float
    form: str
    book: float
    name: str
    took: float

    @property
    def ratio(self) -> float:
        """The plan's time as a multiple of the textbook's."""
        return self.seconds / self.book


def row(place: Place, size: str, speed: str = "50GB/s", latency: str = "2us") -> Row:
    """Plan an allreduce of so many bytes, and compute what textbooks promise."""
    file = place.network.endswith(".edges")
    cost = gossamer.TimeCost(size) if file else gossamer.TimeCost(size, bandwidth=speed, latency=latency)
    began = time.perf_counter()
    found = gossamer.plan(place.network, "allreduce", cost=cost)
    took = time.perf_counter() - began
    links = links_of_file(Path(place.network)) if file else links_of(as_network(place.network), 50e9, 2e-6)
    book, name = textbook(links, place.sides, place.inside)(byte_count(size, "bytes"))
    form = found.forms[0].words if found.forms else "a block for each rank"
    return Row(float(found.seconds), float(found.bound_seconds), f"{form}: {found.algorithm}", book, name, took)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="networks with this in their name")
    parser.add_argument("--bytes", nargs="*", default=SIZES, help="sizes of the buffer")
    asked = parser.parse_args(arguments)
    for place in PLACES:
        if asked.only not in place.network:
            continue
        name = Path(place.network).stem if place.network.endswith(".edges") else place.network
        for size in asked.bytes:
            r = row(place, size)
            mark = " <-- behind" if r.ratio > 1.0005 else ""
            print(
                f"{name[:22]:22} {size:>6} {r.seconds * 1e6:11.2f} us, bound {r.bound * 1e6:11.2f}, {r.form[:48]:48} "
                f"{r.book * 1e6:11.2f} us {r.name[:30]:30} {r.ratio:6.3f} {r.took:5.1f} s{mark}",
                flush=True,
            )


if __name__ == "__main__":
    main()
