"""Repairing a schedule after a link failed beside planning anew: steps, CPU seconds, and their ratios.

python benchmarks/bench_replan.py [--links N]
"""

from __future__ import annotations

import argparse
import time

import networkx as nx

import gossamer
from gossamer.jit import uninterpreted
from gossamer.networks import from_networkx
from gossamer.networks.network import Network

TASKS = ("allgather", "alltoall", "reduce-scatter", "allreduce")


def networks() -> list[Network]:
    """Return the sound networks."""
    graph = nx.random_regular_graph(4, 64, seed=1)
    specs = ("torus:6x6", "torus:8x8", "hypercube:4", "hypercube:6", "dragonfly:4,2")
    return [*map(gossamer.network, specs), from_networkx(graph, "random 4-regular 64")]


def main() -> None:
    """Print a row a network and task: the mean over some failed links."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=4)
    asked = parser.parse_args()
    with uninterpreted():
        measure(asked.links)


def measure(links: int) -> None:
    """Print the rows, each over so many links."""
    for network in networks():
        for task in TASKS:
            sound, rows = gossamer.plan(network, task), []
            for link in range(1, network.link_count, max(1, network.link_count // (links + 1)))[: links + 1]:
                cable = [(int(network.link_source[link]), int(network.link_target[link]))]
                began = time.process_time()
                new = gossamer.plan(network.without(links=cable), task)
                middle = time.process_time()
                found = gossamer.replan(sound, network.without(links=cable))
                took = middle - began, time.process_time() - middle
                rows.append((new.completion_time, found.completion_time, *took))
            new, found, anew, repair = (float(sum(column)) for column in zip(*rows[1:], strict=True))  # one to compile
            print(
                f"{network.spec[:24]:24} {task:15} sound {float(sound.completion_time):5.4g}, anew "
                f"{new / links:6.4g} in {anew / links:6.3f} s, repaired {found / links:6.4g} in "
                f"{repair / links:6.3f} s: {found / new:5.3f} x the steps, {repair / anew:5.2f} x the time",
                flush=True,
            )


if __name__ == "__main__":
    main()
