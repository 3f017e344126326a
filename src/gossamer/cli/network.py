"""``gossamer network``, ``demands``, ``routes`` and ``place``: networks, tasks, routing tables, orders of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.console import print_json, print_rows, print_summary, progress
from gossamer.cli.files import check_other_than, check_outputs, is_picture
from gossamer.cli.options import (
    COSTS,
    RULES,
    TASK,
    Json,
    NetworkArgument,
    Question,
    Seed,
    TaskArgument,
    fails,
    fills,
    network_first,
    pictured,
    planner_words,
    read_network,
    written,
)
from gossamer.errors import ModelError

NetworkOutput = Annotated[
    list[Path] | None,
    written("Write the network (.edges, .json, .ibnet, ...), NCCL's rings on it (.xml), or draw it (.svg, .png, .pdf)"),
]
DemandsOutput = Annotated[
    list[Path] | None, written("Write rows (.csv, .parquet, .json) or a matrix (.npy, .mtx, .mtx.gz)")
]
TablesOutput = Annotated[
    list[Path] | None,
    written("Write forwarding tables (.lft), service levels (.sl), their virtual lanes (.sl2vl) or loads (.csv)"),
]


@pictured
@fails
def network(network: NetworkArgument, output: NetworkOutput = None, seed: Seed = 0, json: Json = False) -> None:
    """Describe a network: size, structure, symmetry, bottleneck, speeds; draw it, convert it."""
    from gossamer.atomic_files import written_together
    from gossamer.networks import as_network
    from gossamer.networks.description import describe
    from gossamer.networks.files import writable_suffixes, write_network
    from gossamer.networks.recognition import recognized

    check_other_than([network], output or [])
    suffixes = (*writable_suffixes(), ".xml")
    check_outputs(output or [], suffixes, f"a network is {', '.join(suffixes)}, a picture {{}}")
    with progress() as stage, written_together():
        stage("reading")
        net = as_network(network)
        stage("looking at the network")
        found = describe(net)
        for path in output or []:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots.network import draw_network

                draw_network(recognized(net), path, found.cut)
            elif path.suffix.lower() == ".xml":
                from gossamer.interchange import write_nccl_graph

                write_nccl_graph(net, path)
            else:
                write_network(net, path)
    if json:
        print_json(found.to_dict())
        return
    print_rows(found.rows(), output or [])


@fails
@fills(task_words=TASK)
def demands(
    network: NetworkArgument,
    task: TaskArgument,
    *,
    task_words: dict[str, Any],
    seed: Seed = 0,
    output: DemandsOutput = None,
    json: Json = False,
) -> None:
    """Write a task as a table of demands or a traffic matrix."""
    from gossamer.atomic_files import written_together
    from gossamer.networks import as_network
    from gossamer.questions.tasks import as_table, write_table
    from gossamer.questions.tasks.parsing import asked_task

    network, task = network_first("demands", network, task)
    check_other_than([network, *(word for word in task_words.values() if isinstance(word, str | Path))], output or [])
    net = as_network(network)
    table = as_table(asked_task(task, task_words, net, seed), net)
    with written_together():
        for path in output or []:
            write_table(table, path, net)
    if json:
        print_json({"network": net.spec, **table.to_dict()})
        return
    print_rows([("network", net.spec), ("task", table.describe())], output or [])


@fails
def routes(
    network: NetworkArgument,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Forwarding tables to judge, as dump_lfts.sh prints them. Default: ours.", metavar="[FILE]"
        ),
    ] = None,
    levels: Annotated[
        Path | None,
        typer.Option(
            help="Service levels of a file's tables, as saquery prints path records.",
            metavar="FILE",
            rich_help_panel="Network",
        ),
    ] = None,
    lanes: Annotated[
        Path | None,
        typer.Option(
            help="Virtual lanes of these levels by switch and ports, as opensm-sl2vl.dump or smpquery sl2vl has them.",
            metavar="FILE",
            rich_help_panel="Network",
        ),
    ] = None,
    layers: Annotated[
        int, typer.Option(help="Virtual layers at most, of 16.", metavar="N", rich_help_panel="Search")
    ] = 16,
    seed: Seed = 0,
    output: TablesOutput = None,
    json: Json = False,
) -> None:
    """Make routing tables without deadlocks, balanced for alltoall, or judge a file's; exit status 1 if faulty."""
    from gossamer.atomic_files import check_writable, written_together
    from gossamer.networks.routing_tables import check_suffix, write_routing_table
    from gossamer.planning import routing_report

    check_other_than([network, table, levels, lanes], output or [])
    for path in output or []:
        if path.suffix.lower() != ".csv":
            check_suffix(path)
        check_writable(path)
    with progress() as stage, written_together():
        stage("reading")
        found = routing_report.routes(
            network, table, levels=levels, lanes=lanes, layers=layers, seed=seed, progress=stage
        )
        for path in output or []:
            stage(f"writing {path}")
            if path.suffix.lower() == ".csv":
                found.write_loads(path)
            else:
                write_routing_table(found.tables, path)
    if json:
        print_json(found.to_dict())
    else:
        print_summary(found.summary)
        print_rows(found.rows(), output or [])
    raise typer.Exit(0 if found.sound else 1)


PlacementOutput = Annotated[
    list[Path] | None,
    written(
        "Write an MPI rankfile (rankfile, .rankfile), hosts for Slurm (.hostfile), a list (.txt), .json, a map (.ranks)"
    ),
]
_MATRICES = (".csv", ".npy", ".mtx", ".gz", ".bz2", ".parquet")
"""The suffixes of files of traffic, which are no networks."""


@fails
@fills(task_words=TASK, rules=(RULES, *COSTS), search=planner_words("effort", "budget"))
def place(
    job: Annotated[
        str,
        typer.Argument(
            help="A network along which ranks exchange, such as array:8x8, a traffic matrix (.csv, .npy, .mtx), a job "
            "of several collectives (.toml), or a task such as allreduce with --groups.",
            metavar="JOB",
        ),
    ],
    network: NetworkArgument,
    *,
    task_words: dict[str, Any],
    rules: dict[str, Any],
    search: dict[str, Any],
    seed: Seed = 0,
    output: PlacementOutput = None,
    json: Json = False,
) -> None:
    """Put the ranks of a job on nodes so that its plan is fast, beside bounds over all placements."""
    from gossamer.atomic_files import written_together
    from gossamer.planning import placement
    from gossamer.questions.tasks.job import read_job

    check_other_than([job, network], output or [])
    for path in output or []:
        placement.check_placement_file(path)
    with progress() as stage, written_together():
        stage("reading")
        if job.lower().endswith(".toml"):
            speeds: dict[str, Any] = {name: rules.pop(name) for name in ("bandwidth", "latency") if name in rules}
            if rules or task_words:
                options = ", ".join(f"--{name.replace('_', '-')}" for name in [*rules, *task_words])
                raise ModelError(f"a job says itself what it takes; leave out {options}")
            net = read_network(network)
            found = placement.place(read_job(job, net), net, cost=speeds, seed=seed, progress=stage, **search)
        else:
            name, words = _task_of(job, task_words)
            asked = Question(network, name, words, "store-and-forward", rules, seed).read()
            task, net = asked.pop("task"), asked.pop("network")
            asked.pop("switching")
            found = placement.place(task, net, seed=seed, progress=stage, **asked, **search)
        for path in output or []:
            stage(f"writing {path}")
            found.save(path)
    if json:
        print_json(found.to_dict())
        return
    print_summary(found.summary)
    print_rows(found.rows(), output or [])


def _task_of(job: str, words: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the task of a job and its words: a task by name, an exchange by a matrix, or one along a network."""
    from gossamer.errors import TaskError
    from gossamer.questions.tasks.parsing import kind_of

    if Path(job).suffix.lower() in _MATRICES:
        return "alltoallv", {**words, "demands": Path(job)}
    try:
        kind_of(job)
    except TaskError:
        return "neighbor-alltoall", {**words, "graph": job}
    return job, words
