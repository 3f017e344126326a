"""PageRank on a parallel machine whose nodes broadcast a component only when it changed enough.

Each node of an interconnection network computes one component (or a few) of the fixed point x = f(x). Sending every
component to every node after each iteration is a multinode broadcast. Near the fixed point few components change, so
a node keeps quiet unless its component differs by more than a tolerance from what it last told the others: a partial
multinode broadcast. The schedule of each iteration is planned, verified, and compared with the full broadcast.

    python examples/fixed_point.py
    python examples/fixed_point.py --network hypercube:6 --plot curve.svg --csv curve.csv
    python examples/fixed_point.py --graph imports:networkx --network array:16x16 torus:16x16
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse
from import_graph import import_graph

import gossamer
from gossamer.atomic_files import whole_file


class PageRank:
    """The map f(x) = (1-damping)/n + damping * P x, which shrinks the sum of differences by the factor `damping`."""

    def __init__(self, graph: nx.Graph, damping: float) -> None:
        weights = nx.to_scipy_sparse_array(graph, weight="weight", dtype=float)
        out = weights.sum(axis=1)
        share = np.divide(1, out, out=np.zeros_like(out), where=out > 0)
        self.n = len(graph)
        self.damping = damping
        self.dangling = out == 0
        self.P = scipy.sparse.csr_array(weights.multiply(share[:, None]).T)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return f(x); components without out-links share their weight among all."""
        return (1 - self.damping + self.damping * x[self.dangling].sum()) / self.n + self.damping * (self.P @ x)


@dataclass
class Broadcast:
    """The broadcast after one iteration; times in steps."""

    active: int
    partial: Fraction  # of the partial multinode broadcast, all phases
    control: Fraction  # of it, the phases of control packets
    counting: Fraction  # of those, the first, after which every node knows how many are active
    full: Fraction  # of the multinode broadcast
    bound: Fraction  # that no partial broadcast can beat
    guarantee: float  # what the sum of the errors is known to be at most afterwards

    @property
    def cheaper(self) -> Fraction:
        """Steps when the nodes count the active ones first, then take the cheaper way."""
        return min(self.partial, self.counting + self.full)


@dataclass
class Run:
    """The iterations on one network."""

    network: gossamer.Network
    broadcasts: list[Broadcast]
    silence: Fraction  # steps to find out at the end that no node is active
    guarantee: float  # what the sum of the errors is known to be at most at the end
    error: np.ndarray
    full_iterations: int  # that reach the same guarantee when every component is broadcast

    def total(self, way: str) -> Fraction:
        """Return the steps of all iterations; `way` is "partial", "cheaper" or "full"."""
        return sum((getattr(b, way) for b in self.broadcasts), Fraction(0) if way == "full" else self.silence)


def iterate(
    f: PageRank, nodes: int, tolerance: float, accuracy: float
) -> tuple[np.ndarray, list[list[int]], list[float]]:
    """Return what all nodes know at the end, the active nodes of each iteration, and what the error is at most.

    Component i lives on node i mod nodes. All nodes know `told`, the values last broadcast. A node is active if
    f(told) differs from told by more than tolerance/n in a component of its own; its packet holds all it has.

    Let r = f(told) - told; the sum of the errors of told is at most sum |r| / (1-damping). Where a node is quiet,
    |r_i| is at most tolerance/n. Where it broadcasts, r_i vanishes, and what it adds to r elsewhere sums to at most
    damping * |r_i|. So every node can bound sum |r| after each broadcast, and all stop together when it is small
    enough, or when no node is active. Each component broadcast lowers sum |r| by (1-damping) * tolerance/n or more:
    it comes to an end. A last guarantee without active nodes says that the end was silence.
    """
    owner = np.arange(f.n) % nodes
    told = np.full(f.n, 1 / f.n)
    active_sets: list[list[int]] = []
    guarantees: list[float] = []
    while not guarantees or guarantees[-1] > accuracy:
        r = f(told) - told
        active = np.unique(owner[abs(r) > tolerance / f.n])
        news = np.isin(owner, active)
        told[news] += r[news]
        left = f.damping * abs(r[news]).sum() + (~news).sum() * tolerance / f.n
        guarantees.append(float(left) / (1 - f.damping))
        if not active.size:
            break
        active_sets.append(active.tolist())
    return told, active_sets, guarantees


def full_iterations(f: PageRank, accuracy: float) -> int:
    """Return after how many iterations nodes that broadcast every component know the same of their accuracy."""
    x, count, known = np.full(f.n, 1 / f.n), 0, np.inf
    while known > accuracy:
        before, x, count = x, f(x), count + 1
        known = f.damping * abs(x - before).sum() / (1 - f.damping)
    return count


def full_broadcast(network: gossamer.Network, components: int, split: bool) -> Fraction:
    """Return the steps in which every component reaches every node, when all nodes know that it comes."""
    known = gossamer.Rules(segmented=split)  # no control packets
    steps = gossamer.plan(network, "multinode-broadcast", rules=known).completion_time
    if components < network.node_count:  # the other nodes have nothing to send
        partial = gossamer.plan(
            network, gossamer.task("partial-multinode-broadcast", active=range(components)), rules=known
        )
        steps = min(steps, partial.completion_time)
    return steps


def run(
    f: PageRank,
    exact: np.ndarray,
    spec: str,
    rules: gossamer.Rules,
    cost: gossamer.StepCost,
    tolerance: float,
    accuracy: float,
) -> Run:
    """Iterate, plan each broadcast, and compare."""
    network = gossamer.network(spec)
    told, active_sets, guarantees = iterate(f, network.node_count, tolerance, accuracy)
    if not active_sets:
        raise ValueError(f"no component moves by more than the tolerance {tolerance:g}; take a smaller one")
    full = full_broadcast(network, f.n, rules.segmented)
    broadcasts = []
    for active, guarantee in zip(active_sets, guarantees, strict=False):
        plan = gossamer.plan(
            network, gossamer.task("partial-multinode-broadcast", active=active), rules=rules, cost=cost
        )
        control = [p.slots * p.slot_length for p in plan.schedule.phases if "prefix" in p.name]
        spent, counting = sum(control, Fraction(0)), sum(control[:1], Fraction(0))
        times = (plan.completion_time, spent, counting, full, plan.bound)
        broadcasts.append(Broadcast(len(active), *times, guarantee))
    silence = counting if len(guarantees) > len(active_sets) else Fraction(0)
    alone = full_iterations(f, max(accuracy, guarantees[-1]))
    return Run(network, broadcasts, silence, guarantees[-1], abs(told - exact), alone)


def steps(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.2f}"


def print_table(head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def print_run(r: Run, components: int) -> None:
    nodes = r.network.node_count
    each, more = divmod(components, nodes)
    most = f"{each + bool(more)} component{'s' if each + bool(more) > 1 else ''}"
    print(
        f"\n{r.network.spec}: "
        + (f"{more} of {nodes} nodes hold {most}, the others {each}" if more else f"{most} a node")
    )
    print()
    rows = [
        [str(i), str(b.active), *map(steps, (b.partial, b.control, b.full, b.cheaper, b.bound)), f"{b.guarantee:.4f}"]
        for i, b in enumerate(r.broadcasts, 1)
    ]
    if r.silence:
        rows.append(["end", "0", steps(r.silence), steps(r.silence), "", steps(r.silence), "", ""])
    sums = [r.total("partial"), sum((b.control for b in r.broadcasts), r.silence), r.total("full"), r.total("cheaper")]
    rows.append(["sum", str(sum(b.active for b in r.broadcasts)), *map(steps, sums), "", ""])
    print_table(["iteration", "active", "partial", "control", "full", "cheaper", "lower bound", "error at most"], rows)
    print(f"\nsteps saved by the partial broadcast: {steps(sums[2] - sums[0])} of {steps(sums[2])}")
    print(f"steps saved by the cheaper of the two: {steps(sums[2] - sums[3])} of {steps(sums[2])}")
    print(f"sum of the errors {r.error.sum():.4f}, known to be at most {r.guarantee:.4f}; largest {r.error.max():.5f}")


def print_comparison(runs: list[Run]) -> None:
    print("\nAgainst broadcasting every component until the error is known to be as small:\n")
    rows = []
    for r in runs:
        alone = r.broadcasts[0].full * r.full_iterations
        rows.append([r.network.spec, str(len(r.broadcasts)), *(steps(r.total(way)) for way in ("partial", "cheaper"))])
        rows[-1] += [str(r.full_iterations), steps(alone), steps(alone - r.total("cheaper"))]
    print_table(["network", "iterations", "partial", "cheaper", "full iterations", "full", "saved"], rows)


def write_csv(runs: list[Run], path: Path) -> None:
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        columns = ["active", "partial", "control", "full", "cheaper", "bound", "guarantee"]
        table.writerow(["network", "iteration", *columns])
        for r in runs:
            for i, b in enumerate(r.broadcasts, 1):
                table.writerow([r.network.spec, i, b.active, *(float(getattr(b, name)) for name in columns[1:])])


def draw(r: Run, title: str, path: Path) -> None:
    """Draw active nodes and steps over the iterations."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    at = np.arange(1, len(r.broadcasts) + 1)
    partial, full, bound = (
        np.array([float(getattr(b, k)) for b in r.broadcasts]) for k in ("partial", "full", "bound")
    )
    figure = Figure(figsize=(6.4, 4.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    above.set_title(title, fontsize=11, loc="left")
    above.bar(at, [b.active for b in r.broadcasts], color="#3b6f9e", width=0.7)
    above.set_ylabel("active nodes")
    below.fill_between(at, partial, full, where=partial < full, interpolate=True, color="#f3d9c4", label="saved")
    below.plot(at, full, color="#555555", label="full broadcast")
    below.plot(at, partial, "o-", color="#d1641b", label="partial broadcast")
    below.plot(at, bound, "--", color="#3b6f9e", label="its lower bound")
    below.set(xlabel="iteration", ylabel="steps", ylim=(0, None))
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
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
            try:
                value = float(text)
            except ValueError:
                value = low
            if not low < value < high:
                raise argparse.ArgumentTypeError(f"must be a number between {low:g} and {high:g}, got {text!r}")
            return value

        return number

    def picture(text: str) -> Path:
        if Path(text).suffix not in (".svg", ".png", ".pdf"):
            raise argparse.ArgumentTypeError(f"must end in .svg, .png or .pdf, got {text!r}")
        return Path(text)

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--graph", default="les-miserables", metavar="NAME",
        help="les-miserables, or imports:PACKAGE, which modules of an installed package import which")  # fmt: skip
    add("--network", nargs="+", default=["array:3x3x3x3", "array:7x11", "torus:7x11", "hypercube:6"], metavar="SPEC",
        help="the machines; iterations are listed and drawn for the first (default: %(default)s)")  # fmt: skip
    add("--tolerance", type=between(1e-9, 10), default=0.01, metavar="X",
        help="broadcast what moved by more than this share of the mean component (default: %(default)s)")  # fmt: skip
    add("--accuracy", type=between(1e-9, 2), default=0.1, metavar="X",
        help="stop when the sum of the errors is known to be at most this (default: %(default)s)")  # fmt: skip
    add("--damping", type=between(0, 0.99), default=0.85, metavar="X", help="of PageRank (default: %(default)s)")
    packets = parser.add_mutually_exclusive_group()
    packets.add_argument("--split", action="store_true", default=True, help="packets may be cut into parts (default)")
    packets.add_argument("--whole", action="store_false", dest="split", help="packets stay whole")
    add("--control-time", default="1/10", metavar="STEPS",
        help="steps that a control packet takes on a link, t_p (default: %(default)s)")  # fmt: skip
    add("--plot", type=picture, metavar="FILE", help="draw active nodes and steps: .svg, .png or .pdf")
    add("--csv", type=Path, metavar="FILE", help="write the iterations on all networks")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    asked = options(words)
    try:
        graph = graph_named(asked.graph)
        f = PageRank(graph, asked.damping)
        ranks = nx.pagerank(graph, alpha=asked.damping, tol=1e-14, max_iter=10_000)
        exact = np.array([ranks[v] for v in graph])
        rules, cost = gossamer.Rules(segmented=asked.split), gossamer.StepCost(asked.control_time)
        runs = [run(f, exact, spec, rules, cost, asked.tolerance, asked.accuracy) for spec in asked.network]
        print(f"PageRank of {asked.graph}, {f.n} components, damping {f.damping:g}, tolerance {asked.tolerance:g}")
        print(
            f"packets {'may be split' if rules.segmented else 'stay whole'}, "
            f"control packets take {cost.control_time} step"
        )
        print_run(runs[0], f.n)
        print_comparison(runs)
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
