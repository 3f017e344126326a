"""Whole pages made from the registries: networks, tasks, algorithms, builders, broadcasts on arrays."""

from __future__ import annotations

from types import ModuleType
from typing import get_args

from generating.markdown import page, table


def networks_page() -> str:
    """Return the table of network families."""
    from gossamer import network
    from gossamer.networks.families import FAMILIES

    rows: dict[str, list[list[str]]] = {"families": [], "machines": [], "files": []}
    for family in FAMILIES:
        example = f"`{family.example}`"
        if not family.reads_file:
            net = network(family.example)
            example += f": {net.node_count:,} nodes, {net.link_count:,} links"
        names = ", ".join(f"`{n}`" for n in (family.name, *family.aliases))
        row = [names, f"`{family.parameters}`", f"{family.summary}. *Source:* {family.source}", example]
        rows[family.kind].append(row)
    heads = ["family", "parameters", "what it is", "example"]
    text = f"""
A network is named by a *spec*: the family, a colon, and the parameters. `gossamer list networks` prints the families;
`gossamer.network(spec)` builds the network. Where a family has several names, the first is the one in the canonical
spec.

{table(heads, rows["families"])}

## Machines

A machine has the speeds of its data sheet, so that plans are in bytes and seconds. Its name alone is one box or rack
where every parameter has a default; `dgx-h100:4` is four boxes, with a network adapter a GPU to switches outside: GPU i
of every box to rail `i mod rails`, and all rails to `spines` further switches, if there are some, at full bisection.
Every figure is an option, as in `dgx-h100:4,nic=25GB/s,latency=300ns`; those that no data sheet tells, such as
latencies, are assumptions, which `gossamer network nvl72` lists. A link of several cables is one link of their speeds
together. Speeds are one way. Switches copy packets (multicast) by default where the machine's do; where they can
reduce, `--reduction` (`Rules(reduction=True)`) lets them. `--steps` (`StepCost()`) counts steps, in which all links are
alike.

{table(heads, rows["machines"])}

## Files

{table(heads, rows["files"])}

## More

Every undirected edge is two links; links of Kautz and de Bruijn networks are one-way. Upper case, spaces and
underscores in names of families are accepted. Sources are listed in the [references](references.md).

Instead of a spec, on the command line and in Python, you can give the path of a file: an edge list, a graph in JSON,
GraphML or GML, or the output of cluster tools; the formats are on the page
[from your cluster to a schedule](../how_to/from_your_cluster.md). Python also takes a NetworkX graph, and
`gossamer.networks.to_networkx` returns one. Links may have a capacity, which is the packets that they carry per slot,
and a bandwidth and a latency. `gossamer network` describes a network, draws it, and writes it to files. Any group and
generators make a Cayley network with `gossamer.networks.cayley`.

Where a family has routers, `p=P` gives each of them P terminals of its own, and the routers are switches that only
forward; without it the routers are the terminals. Terminals are always the first nodes; switches follow, tier by tier.
Named parameters may be in any order, the first of them without their names, and those with a default may be omitted:
`dragonfly:4,2` is `dragonfly:a=4,h=2`. Links between the same two nodes are one link of greater capacity.

Special cases:

* A side of 2 in a torus is a single edge, as in an array: two parallel edges are never created. A torus of sides 2 is a
  hypercube.
* Sides of 1 are allowed, and so are networks of one node and of two nodes.
* Sizes are checked before anything is built.
"""
    return page("Networks", text, "gossamer.networks.families")


def tasks_page() -> str:
    """Return the table of tasks."""
    import dataclasses

    from gossamer.questions.tasks import ALIASES, TASKS

    meaning = {
        "root": "`root`: a node, default 0",
        "active": "`active`: the active nodes",
        "counts": "`counts`: for each node how many messages it has",
        "edges": "`edges`: pairs (origin, destination) of a graph; default: the links",
        "destination": "`destination`: for each node where its message goes, -1 for none",
        "destinations": "`destinations`: for each node the set of nodes to which its message goes",
    }
    option = {"root": "`--root`", "active": "`--active`", "counts": "`--counts`", "edges": "`--graph`"}
    option |= dict.fromkeys(("destination", "destinations"), "`--destinations` or `--pattern`")
    files = "`--demands` or `--traffic`"
    tables = {
        "demands": ("the rows; see `gossamer.questions.tasks.DemandTable.of` and `from_matrix`", files),
        "uneven-exchange": ("`counts`: for each node how many packets it sends to each", files),
    }
    rows = []
    for name, kind in TASKS.items():
        aliases = ", ".join(f"`{a}`" for a, of in ALIASES.items() if of == name)
        fields = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
        options = ", ".join(option.get(f, "Python only") for f in fields)
        told = "; ".join(meaning.get(f, "") for f in fields)
        told, options = tables.get(name, (told, options))
        rows.append([f"`{name}`", aliases, kind.summary, told, options])
    text = f"""
`gossamer.task(name, ...)` takes any of these names, and so do the commands. `gossamer list tasks` prints this list. A
name may be written in any usual spelling: `all_gather`, `AllGather`, `MPI_Allgather` and `ncclAllGather` are
`allgather`, and mean here what they mean in MPI and NCCL.

Any of them may run among the nodes of a group, or of several groups at once (`--groups`, `groups=`), and with messages
of several packets (`--chunks`, `packets=`). `gossamer.questions.tasks.Together` combines several tasks, also one after
the other; a [job](../tutorials/training_step.md) is a file of them.

{table(["task", "also called", "what it is", "fields", "option"], rows)}

Messages and other terms are defined in the [nomenclature](nomenclature.md).
"""
    return page("Tasks", text, "gossamer.questions.tasks")


def algorithms_page() -> str:
    """Return the tables of algorithms, one a task."""
    from gossamer import ALGORITHMS
    from gossamer.questions.rules import Ports
    from gossamer.questions.tasks import TASKS
    from gossamer.testing import standard_cases

    sections = []
    for name, kind in TASKS.items():
        rows = []
        for a in (a for a in ALGORITHMS if kind in a.tasks):
            cases = [case for case in standard_cases(a) if isinstance(case.task, kind)]
            ports = [p for p in get_args(Ports) if any(c.rules.ports == p for c in cases)]
            offers = [a.offer(c) for c in cases]
            claims = [offer.time is not None for offer in offers]
            claim = "none" if not any(claims) else "upper limit" if any(o.at_most for o in offers) else "exact"
            if any(claims) and not all(claims):
                claim += ", on some"
            optimal = [offer.optimal for offer in offers]
            if any(optimal):
                claim += f"; meets the bound {'always' if all(optimal) else 'on some'}"
            covers = f"{a.networks}; ports {', '.join(ports)}" if ports else a.networks
            rows.append([f"`{a.name}`", covers, claim, f"{a.summary}. *Source:* {a.source}"])
        if rows:
            sections.append(f"## {name}\n\n{table(['algorithm', 'covers', 'guaranteed time', 'what it does'], rows)}")
        else:
            sections.append(f"## {name}\n\nNone yet. `gossamer bounds` prints its lower bounds.")
    sections += [_wormhole_section(), _schemes_section()]
    text = f"""
Every algorithm of the registry, by task. `gossamer list algorithms` prints them, `gossamer list algorithms NETWORK`
those that cover a network, and `--algorithm NAME` uses one. The functions that build the schedules are on the page
[Builders](../api/builders.md).

The guaranteed time is the completion time that the source proves, exactly or as an upper limit. "Meets the bound" means
that the source proves that the schedule meets the largest lower bound; the conformance tests check it. Ports and
guarantees are those on the cases of the [conformance tests](../explanation/how_it_works.md#the-conformance-tests):
small networks of every family under several rules, so "on some" means on some of those. Sources are listed in the
[references](references.md).

{chr(10).join(s + chr(10) for s in sections)}
"""
    return page("Algorithms", text, "gossamer.algorithms")


def _wormhole_section() -> str:
    """Return the table of algorithms for wormhole switching."""
    from gossamer.wormhole.registry import WORMHOLE_ALGORITHMS

    rows = []
    for a in WORMHOLE_ALGORITHMS:
        tasks = ", ".join(kind.name for kind in a.tasks)
        rows.append([f"`{a.name}`", f"{tasks}; {a.networks}", f"{a.summary}. *Source:* {a.source}"])
    return f"""## With wormhole switching

Use them with `--switching wormhole`; see [wormhole switching](../explanation/wormhole.md).

{table(["algorithm", "covers", "what it does"], rows)}"""


def _schemes_section() -> str:
    """Return the table of schemes for broadcasts that arrive at random."""
    from gossamer.simulation.random_arrivals.schemes import SCHEMES

    rows = [[f"`{name}`", f"{known.summary}. *Source:* {known.source}"] for name, known in SCHEMES.items()]
    return f"""## Schemes for broadcasts that arrive at random

Use them with `gossamer simulate arrivals NETWORK --scheme NAME`; see
[broadcasts at random times](../explanation/dynamic.md). `varvarigos-bertsekas` names the scheme of intervals.

{table(["scheme", "what it does"], rows)}"""


def array_broadcasts_page() -> str:
    """Return the page on multinode broadcast on arrays, with the ratio of time and bound for a table of shapes."""
    from gossamer import ALGORITHMS, network, task, verify
    from gossamer.bounds import best_bound
    from gossamer.questions.cases import Case

    shapes = (
        "9", "2x3", "2x4", "2x15", "3x3", "4x4", "3x5", "5x8", "7x9", "8x8", "16x16", "31x33",
        "2x2x3", "2x4x5", "2x5x7", "3x3x3", "3x4x5", "4x4x4", "5x7x9", "8x8x8", "10x10x10",
        "2x2x2x3", "2x3x4x5", "3x3x3x3", "4x4x4x4", "2x2x3x3x4", "3x3x3x3x3", "2x2x2x2x2x5",
    )  # fmt: skip
    broadcast = task("multinode-broadcast")
    named = {a.name: a for a in ALGORITHMS if type(broadcast) in a.tasks}
    rows = []
    for shape in shapes:
        net = network(f"array:{shape}")
        case = Case(net, broadcast)
        schedule = named["torus-on-array"].build(case)
        verify(schedule).raise_if_invalid()
        time, bound = schedule.completion_time, best_bound(case).value
        twice = 2 * named["translated-tree"].offer(Case(network(f"torus:{shape}"), broadcast)).time
        rotated = named["rotated-dimensions-unsegmented"].offer(case).time
        ratios = [f"{float(value / bound):.3f}" for value in (time, twice, rotated)]
        sides = [s for s in shape.split("x") if s != "1"]
        rows.append([shape, f"{net.node_count:,}", str(len(sides)), str(bound), str(time), *ratios])
    columns = ["array", "N", "d", "bound", "steps", "ratio", "twice the torus", "rotated dimensions"]
    text = f"""
A corner of a $d$-dimensional array must receive $N-1$ messages over $d$ links, so no multinode broadcast of unsegmented
messages takes less than $\\lceil (N-1)/d \\rceil$ steps. The algorithm `torus-on-array` takes exactly that on every
array in the table, and on every array with a side of 3 or more that its tests try. (With all sides 2 the array is a
hypercube, for which `translated-tree` is optimal.) The last three columns are ratios of times to the bound: of
`torus-on-array`; of twice the optimal time on the torus of the same shape; and of `rotated-dimensions-unsegmented`, the
multinode broadcast of Varvarigos and Bertsekas for any d.

{table(columns, rows)}

`gossamer plan array:5x7x9 allgather` builds and checks one of them.

## How

*Folding.* A ring is folded into a line so that neighbors are at most two positions apart: positions 0, 1, 2, 3, 4 host
nodes 0, 4, 1, 3, 2 of a ring of five. Then one slot of the torus becomes two of the array, and no link is used
twice, even if the torus uses all of its links. That is the proof of Theorem 1 in the paper;
`gossamer.schedules.torus_on_array` does it with any schedule of any task. For two equal sides this is already
optimal.

*The last slot.* The torus receives over 2d links. If N-1 leaves a remainder of 1 to d when divided by 2d, its last slot
is not full, and twice its time is one step too many. So the last messages are sent differently: every node gets each of
them from a neighbor that has it, in one slot, one from each neighbor. A bipartite matching at every node says which.

*Sides of 2.* A torus has one link there, not two, and twice the time of the torus wastes half of it. Such links need no
folding, and can carry one message in either half of a slot of the torus. Only in the first slot the second half has
nothing new to carry. But a 2 x p array has a Hamiltonian cycle, a ring of 2p nodes without any folding; one
side of 2 and the shortest other side are replaced by it.

The tree that is translated is found by the search of `translated-tree`, which does not prove that one always exists.
The guaranteed time is checked on every run.
"""
    return page("Multinode broadcast on arrays", text, "the schedules of torus-on-array")


def _builders(module: ModuleType) -> list[str]:
    """Return the names of the public functions of a module that make a schedule, in the order of the file."""
    return [
        name
        for name, value in vars(module).items()
        if name in getattr(module, "__all__", (name,) if not name.startswith("_") else ())
        and getattr(value, "__module__", "") == module.__name__
        and getattr(value, "__annotations__", {}).get("return") == "Schedule"
    ]


def _holds(module: ModuleType, algorithm: object) -> bool:
    """Whether an algorithm, alone or in a tuple, is a name of a module."""
    values = vars(module).values()
    return any(algorithm is one for value in values for one in (value if isinstance(value, tuple) else (value,)))


def builders_pages() -> dict[str, str]:
    """Return the reference of the functions that build schedules: a first page, and pages of at most 8 modules."""
    import sys

    from gossamer import ALGORITHMS

    known = {name: module for name, module in sorted(sys.modules.items()) if name.startswith("gossamer.algorithms.")}
    functions: dict[str, list[str]] = {}
    for a in ALGORITHMS:
        for name, module in known.items():
            builders = _builders(module) if _holds(module, a) else []
            if builders:
                functions.setdefault(name, builders)
    sections: dict[str, list[str]] = {}
    for module_name, names in functions.items():
        directives = "\n".join(f".. autofunction:: {module_name}.{name}" for name in names)
        package = module_name.split(".")[2]
        while len(sections.get(package, ())) >= 8:
            package += "_more"
        sections.setdefault(package, []).append(f"## {module_name}\n\n```{{eval-rst}}\n{directives}\n```")
    listed = "\n".join(f"builders/{package}" for package in sections)
    text = f"""
The functions behind the [table of algorithms](../reference/algorithms.md). Reversed and two-way algorithms are made
from these by `gossamer.algorithms.derived.dual` and `allreduce_from`, and have no functions of their own.

```{{toctree}}
:maxdepth: 1

{listed}
```
"""
    pages = {"docs/api/builders.md": page("Builders", text, "gossamer.algorithms")}
    for package, parts in sections.items():
        title = f"Builders: {package.replace('_', ' ')}"
        pages[f"docs/api/builders/{package}.md"] = page(title, "\n\n".join(parts), "gossamer.algorithms")
    return pages
