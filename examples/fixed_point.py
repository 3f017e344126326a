"""PageRank on a parallel machine in which a node broadcasts its component only when it changed enough.

Every node of an interconnection network computes one component (or some) of the fixed point x = f(x). Sending every
component to every node after each iteration is a multinode broadcast. Near the fixed point few components change, so
a node keeps quiet unless its component differs by more than a tolerance from what it last told the others: a partial
multinode broadcast. Each iteration's schedule is planned and verified, and compared with the full one.

    python examples/fixed_point.py
    python examples/fixed_point.py --network hypercube:6 --plot curve.svg --csv curve.csv
    python examples/fixed_point.py --graph imports:scipy --network array:16x16 torus:16x16
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse
from import_graph import import_graph

import gossamer
from gossamer.writing import whole_file


class PageRank:
    """The map f(x) = (1-damping)/n + damping * P x; it shrinks the sum of differences by the factor `damping`."""

    def __init__(self, graph: nx.Graph, damping: float) -> None:
        weights = nx.to_scipy_sparse_array(graph, weight="weight", dtype=float)
        out = weights.sum(axis=1)
        share = np.divide(1, out, out=np.zeros_like(out), where=out > 0)
        self.n = len(graph)
        self.damping = damping
        self.dangling = out == 0
        self.transition = scipy.sparse.csr_array(weights.multiply(share[:, None]).T)
        exact = nx.pagerank(graph, alpha=damping, tol=1e-14, max_iter=10_000)
        self.exact = np.array([exact[v] for v in graph])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        everywhere = (1 - self.damping + self.damping * x[self.dangling].sum()) / self.n
        return everywhere + self.damping * (self.transition @ x)

    def error(self, x: np.ndarray) -> float:
        """Return the sum of the absolute errors, against networkx.pagerank."""
        return float(abs(x - self.exact).sum())


@dataclass
class Iteration:
    """One iteration: who broadcasts, what all nodes know afterwards, and the steps it takes."""

    active: list[int]
    guarantee: float
    partial: Fraction = Fraction(0)
    control: Fraction = Fraction(0)
    bound: Fraction = Fraction(0)


@dataclass
class Run:
    """A network's iterations, and the steps of a full multinode broadcast on it."""

    network: gossamer.Network
    full: Fraction
    as_accurate: int
    iterations: list[Iteration] = field(default_factory=list)
    silence: Fraction = Fraction(0)
    error: float = 0.0

    def cheaper(self, step: Iteration) -> Fraction:
        """Return the steps when the nodes, once they know how many are active, take the cheaper of the two."""
        return min(step.partial, step.control + self.full)

    @property
    def partial_total(self) -> Fraction:
        return sum((step.partial for step in self.iterations), self.silence)

    @property
    def cheaper_total(self) -> Fraction:
        return sum((self.cheaper(step) for step in self.iterations), self.silence)

    @property
    def full_total(self) -> Fraction:
        return self.full * len(self.iterations)


def iterate(f: PageRank, node_count: int, tolerance: float, accuracy: float) -> tuple[np.ndarray, list[Iteration], bool]:
    """Iterate until all nodes know that the sum of the errors is at most `accuracy`, or until no node has news.

    Component i lives on node i mod node_count. `told` holds what every node knows: the values last broadcast. A node
    is active if a component of its own moved by more than tolerance/n from what it told; its packet holds all of its
    components. Let r = f(told) - told. A broadcast makes r zero at the active nodes and adds at most damping times
    what was there elsewhere; quiet components have |r_i| <= tolerance/n. So all nodes can bound the sum of |r|, and
    the error of `told` is at most that sum over 1 - damping. Each broadcast lowers the sum of |r| by at least
    (1-damping)*tolerance/n, so the iteration ends.
    """
    owner = np.arange(f.n) % node_count
    told = np.full(f.n, 1 / f.n)
    iterations: list[Iteration] = []
    while True:
        change = f(told) - told
        active = np.unique(owner[abs(change) > tolerance / f.n])
        if not active.size:
            return told, iterations, True
        news = np.isin(owner, active)
        left = f.damping * abs(change[news]).sum() + (~news).sum() * tolerance / f.n
        told[news] += change[news]
        iterations.append(Iteration(active.tolist(), left / (1 - f.damping)))
        if iterations[-1].guarantee <= accuracy:
            return told, iterations, False


def full_iterations(f: PageRank, accuracy: float) -> int:
    """Return the iterations after which nodes that broadcast everything know that they are as accurate."""
    x = np.full(f.n, 1 / f.n)
    count = 0
    while True:
        change = f(x) - x
        x += change
        count += 1
        if f.damping * abs(change).sum() / (1 - f.damping) <= accuracy:
            return count


def full_broadcast(network: gossamer.Network, components: int, split: bool) -> Fraction:
    """Return the steps in which every component reaches every node; that all broadcast is known ahead."""
    model = gossamer.Model(split=split)
    steps = gossamer.plan(network, "multinode-broadcast", model).completion_time
    if components < network.node_count:  # nodes without a component have nothing to send
        active = range(components)
        steps = min(steps, gossamer.plan(network, "partial-multinode-broadcast", model, active=active).completion_time)
    return steps


def run(f: PageRank, spec: str, model: gossamer.Model, tolerance: float, accuracy: float) -> Run:
    """Iterate on one network and plan every broadcast."""
    network = gossamer.network(spec)
    told, iterations, silent = iterate(f, network.node_count, tolerance, accuracy)
    reached = tolerance / (1 - f.damping) if silent else iterations[-1].guarantee
    result = Run(
        network, full_broadcast(network, f.n, model.split), full_iterations(f, max(accuracy, reached)), iterations
    )
    for step in iterations:
        plan = gossamer.plan(network, "partial-multinode-broadcast", model, active=step.active)
        step.partial, step.bound = plan.completion_time, plan.bound
        step.control = sum((p.slots * p.slot_length for p in plan.schedule.phases if p.name == "prefix"), Fraction(0))
    if silent and iterations:  # that nobody is active must be found out too
        result.silence = iterations[-1].control
    result.error = f.error(told)
    return result


def steps_text(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.2f}"


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def print_run(result: Run) -> None:
    rows = [
        [str(i), str(len(step.active)), *map(steps_text, (step.partial, result.full, result.cheaper(step), step.bound))]
        + [f"{step.guarantee:.4f}"]
        for i, step in enumerate(result.iterations, 1)
    ]
    if result.silence:
        rows.append(["end", "0", steps_text(result.silence), "", steps_text(result.silence), "", ""])
    totals = (result.partial_total, result.full_total, result.cheaper_total)
    rows.append(["sum", str(sum(len(s.active) for s in result.iterations)), *map(steps_text, totals), "", ""])
    print(f"{result.network.spec}: {result.network.node_count} nodes\n")
    print_table(["iteration", "active", "partial", "full", "cheaper", "lower bound", "error at most"], rows)
    print(f"\nsteps saved by the partial broadcast: {steps_text(result.full_total - result.partial_total)}")
    print(f"steps saved by the cheaper of the two: {steps_text(result.full_total - result.cheaper_total)}")


def print_summary(runs: list[Run]) -> None:
    rows = []
    for r in runs:
        alone = r.full * r.as_accurate
        rows.append(
            [r.network.spec, str(len(r.iterations)), *map(steps_text, (r.partial_total, r.cheaper_total, r.full_total))]
            + [str(r.as_accurate), steps_text(alone), steps_text(alone - r.cheaper_total)]
        )
    print("\nAgainst an iteration that broadcasts everything and stops as soon as it is known to be as accurate:\n")
    print_table(["network", "iterations", "partial", "cheaper", "full", "iterations alone", "full alone", "saved"], rows)


def write_csv(runs: list[Run], path: Path) -> None:
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["network", "iteration", "active", "partial", "full", "cheaper", "bound", "error_at_most"])
        for r in runs:
            for i, s in enumerate(r.iterations, 1):
                times = [float(t) for t in (s.partial, r.full, r.cheaper(s), s.bound)]
                table.writerow([r.network.spec, i, len(s.active), *times, s.guarantee])


def draw(result: Run, title: str, path: Path) -> None:
    """Draw active nodes and steps over the iterations."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    count = range(1, len(result.iterations) + 1)
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    figure.suptitle(title, fontsize=11)
    above.bar(count, [len(s.active) for s in result.iterations], color="#4c78a8", width=0.7)
    above.set_ylabel("active nodes")
    below.plot(count, [float(result.full)] * len(count), color="#666666", label="full broadcast")
    below.plot(count, [float(s.partial) for s in result.iterations], "o-", color="#d1641b", label="partial broadcast")
    below.plot(count, [float(s.bound) for s in result.iterations], "--", color="#4c78a8", label="lower bound, partial")
    below.set_ylabel("steps")
    below.set_xlabel("iteration")
    below.set_ylim(bottom=0)
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    below.legend(frameon=False, fontsize=9)
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    with whole_file(path) as part, matplotlib.rc_context({"svg.hashsalt": "gossamer", "svg.fonttype": "none"}):
        figure.savefig(part, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def graph_named(name: str) -> nx.Graph:
    if name == "les-miserables":
        return nx.les_miserables_graph()
    if name.startswith("imports:"):
        return import_graph(name.removeprefix("imports:"))
    raise ValueError(f"unknown graph {name!r}; there are les-miserables and imports:PACKAGE")


def options(words: list[str] | None) -> argparse.Namespace:
    def between(low: float, high: float):
        def number(text: str) -> float:
            if not low < float(text) < high:
                raise ValueError
            return float(text)

        number.__name__ = f"number between {low:g} and {high:g}"
        return number

    def picture(text: str) -> Path:
        if Path(text).suffix not in (".svg", ".png", ".pdf"):
            raise argparse.ArgumentTypeError(f"{text!r} must end in .svg, .png or .pdf")
        return Path(text)

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add("--graph", default="les-miserables", help="les-miserables, or imports:PACKAGE: who imports whom in a package")
    add("--network", nargs="+", default=["array:3x3x3x3", "array:7x11", "torus:7x11", "hypercube:6"],
        metavar="SPEC", help="the machines; iterations are listed and drawn for the first")  # fmt: skip
    add("--tolerance", type=between(0, 100), default=0.01,
        help="broadcast a component that moved by more than this share of the mean component")  # fmt: skip
    add("--accuracy", type=between(0, 2), default=0.1, help="stop when the sum of the errors is known to be at most this")
    add("--damping", type=between(0, 1), default=0.85, help="damping factor of PageRank")
    split = parser.add_mutually_exclusive_group()
    split.add_argument("--split", action="store_true", default=True, help="packets may be cut into parts (default)")
    split.add_argument("--whole", action="store_false", dest="split", help="packets stay whole")
    add("--control-time", default="1/10", metavar="STEPS", help="steps of a control packet on a link, t_p (1/10)")
    add("--plot", type=picture, metavar="FILE", help="draw active nodes and steps (.svg, .png, .pdf)")
    add("--csv", type=Path, metavar="FILE", help="write the tables")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    asked = options(words)
    try:
        graph = graph_named(asked.graph)
        f = PageRank(graph, asked.damping)
        model = gossamer.Model(split=asked.split, control_time=asked.control_time)
        runs = [run(f, spec, model, asked.tolerance, asked.accuracy) for spec in asked.network]
        print(f"PageRank of {asked.graph}: {f.n} components, damping {asked.damping:g}; a node broadcasts when a component")
        print(f"of its own moved by {asked.tolerance:.3g} of the mean component; packets {'split' if asked.split else 'whole'}, ", end="")
        print(f"t_p = {model.control_time}\n")
        print_run(runs[0])
        print_summary(runs)
        if asked.csv:
            write_csv(runs, asked.csv)
        if asked.plot:
            draw(runs[0], f"PageRank of {asked.graph} on {runs[0].network.spec}", asked.plot)
    except (gossamer.GossamerError, ValueError) as error:
        print(f"fixed_point.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
