"""Plans of collectives beside the best algorithm of the textbooks: time, bound and form, for messages of many sizes.

    python benchmarks/bench_beside_textbooks.py [--only WORD ...] [--task TASK ...] [--bytes SIZE ...] [--json FILE]

The textbooks' times are computed apart (`textbooks`), in favor of them. The last columns are the textbook's time as a
multiple of the plan's, and the seconds of CPU that planning took. A plan that takes 0.1 % longer than a textbook is
marked; the last lines count cells and show those in which plans are furthest behind and furthest ahead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import machines
from textbooks import COLLECTIVES, Grid, links_of, links_of_file, textbook

import gossamer
from gossamer.networks import as_network, from_networkx
from gossamer.networks.network import Network
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.reading.quantities import size as byte_count

SIZES = ("64B", "1KiB", "16KiB", "256KiB", "1MiB", "16MiB", "64MiB")
SERVERS = Path(__file__).resolve().parents[1] / "examples" / "machines" / "two_servers.edges"
SPEED, LATENCY = "50GB/s", "2us"
"""Of links that have none of their own."""
BEHIND = 1.001

SPECS = {
    "hypercube:6": Grid((2,) * 6),
    "torus:8x8": Grid((8, 8)),
    "torus:4x4x4": Grid((4, 4, 4)),
    "ring:16": Grid((16,)),
    "complete:8": Grid((8,)),
    "leaf-spine:leaves=6,spines=2,hosts=4": Grid((24,), 4),
    "dgx-1:p100": Grid((8,)),
    "dgx-1:v100": Grid((8,)),
    "dgx-a100:2": Grid((16,), 8),
    "dgx-h100:1": Grid((8,)),
    "dgx-h100:2": Grid((16,), 8),
    "mi300x:1": Grid((8,)),
    "mi300x:2": Grid((16,), 8),
    "mi250x:2": Grid((16,), 8),
    "gaudi2:1": Grid((8,)),
    "gaudi3:2": Grid((16,), 8),
    "tpu-v5e:4x4": Grid((4, 4)),
    "tpu-v4:4x4x4": Grid((4, 4, 4)),
}
GRAPHS = {
    "2 x 8 A100": Grid((16,), 8), "4 x 8 A100": Grid((32,), 8), "2 x 16 MI250": Grid((32,), 16),
    "two DGX-1": Grid((16,), 8), "leaf-spine 2:1": Grid((24,), 4), "2 servers, rails": Grid((8,), 4),
    "fat tree of 16": Grid((16,), 2), "PCIe bridges": Grid((8,), 2), "torus 8x8": Grid((8, 8)),
    "torus 8x8 less 6": Grid((8, 8)), "torus 4x4x4": Grid((4, 4, 4)), "array 5x5": Grid((5, 5)),
    "two rings of 6, joined": Grid((2, 6)), "8 cliques of 4": Grid((32,), 4), "hypercube 5, less 4": Grid((2,) * 5),
    "leaf-spine 4:1, less 1": Grid((32,), 8), "3 x 8 rails, less 2": Grid((24,), 8), "grid of switches": Grid((18,), 2),
}  # fmt: skip
"""Of the machines and networks of `machines`, where ranks are laid out in more than one dimension."""


class Place(NamedTuple):
    """A network with its name, how ranks are laid out, and the file that it is of."""

    name: str
    network: Network
    grid: Grid
    file: Path | None = None


class Row(NamedTuple):
    """What a plan takes, its bound and form, and the best of the textbooks; times in seconds."""

    network: str
    task: str
    size: str
    seconds: float
    bound: float
    form: str
    book: float
    name: str
    took: float

    @property
    def ratio(self) -> float:
        """The textbook's time as a multiple of the plan's."""
        return self.book / self.seconds

    @property
    def behind(self) -> bool:
        """Whether the plan takes longer than the textbook."""
        return self.seconds > self.book * BEHIND

    def __str__(self) -> str:
        mark = " <-- behind" if self.behind else ""
        return (
            f"{self.network[:22]:22} {self.task:14} {self.size:>6} {self.seconds * 1e6:11.2f} us, "
            f"bound {self.bound * 1e6:11.2f}, {self.form[:52]:52} {self.book * 1e6:11.2f} us {self.name[:30]:30} "
            f"{self.ratio:6.3f} {self.took:5.1f} s{mark}"
        )


def places() -> Iterator[Place]:
    """Yield the networks, those of links that are all alike first."""
    yield Place("two servers of 8", as_network(SERVERS), Grid((16,), 8), SERVERS)
    for spec, grid in SPECS.items():
        yield Place(spec, as_network(spec), grid)
    for name, graph in itertools.chain(machines.machines(), machines.networks()):
        network = from_networkx(graph)
        yield Place(name, network, GRAPHS.get(name, Grid((network.terminal_count,))))


def rows(place: Place, task: str, sizes: Sequence[str]) -> Iterator[Row]:
    """Plan a collective of each size, and compute what textbooks promise."""
    network = place.network
    links = links_of(network, 50e9, 2e-6) if place.file is None else links_of_file(place.file)
    best = textbook(links, place.grid, task)
    speeds = {} if network.find(Speeds) else {"latency": LATENCY}
    if speeds and not network.find(RatedLinks):
        speeds["bandwidth"] = SPEED
    for size in sizes:
        began = time.process_time()
        found = gossamer.plan(network, task, cost=gossamer.TimeCost(size, **speeds))
        took = time.process_time() - began
        form = f"{found.forms[0].words}: {found.algorithm}" if found.forms else found.algorithm
        book, name = best(byte_count(size, "bytes"))
        yield Row(place.name, task, size, float(found.seconds), float(found.bound_seconds), form, book, name, took)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[""], help="networks with one of these in their name")
    parser.add_argument("--task", nargs="*", default=COLLECTIVES, choices=COLLECTIVES)
    parser.add_argument("--bytes", nargs="*", default=SIZES, help="sizes of the message")
    parser.add_argument("--json", type=Path, help="file to which rows are added, a line each")
    asked = parser.parse_args(arguments)
    told: list[Row] = []
    for place in places():
        for task in asked.task if any(word in place.name for word in asked.only) else ():
            for row in rows(place, task, asked.bytes):
                told.append(row)
                print(row, flush=True)
                if asked.json:
                    with asked.json.open("a") as file:
                        file.write(json.dumps(row._asdict()) + "\n")
    if told:
        told.sort(key=lambda row: row.ratio)
        below = [row.ratio for row in told]
        print(f"{len(told)} cells, {sum(row.behind for row in told)} behind by over 0.1 %; textbook / plan: least")
        print(f"{below[0]:.4f}, median {below[len(told) // 2]:.3f}, most {below[-1]:.3f}")
        print(*told[:5], *told[-3:], sep="\n")


if __name__ == "__main__":
    main()
