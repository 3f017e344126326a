"""``gossamer network`` and ``gossamer demands``: what a network and a task are, and files of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from gossamer.cli.console import print_json, print_rows, progress
from gossamer.cli.files import check_other_than, check_outputs, is_picture
from gossamer.cli.options import (
    TASK,
    Json,
    NetworkArgument,
    Seed,
    TaskArgument,
    fails,
    fills,
    network_first,
    pictured,
    written,
)

__all__ = ["demands", "network"]

NetworkOutput = Annotated[
    list[Path] | None,
    written(
        "Write the network (.edges, .json, .graphml, ...), NCCL's rings on it (.xml), or draw it (.svg, .png, .pdf)"
    ),
]
DemandsOutput = Annotated[
    list[Path] | None, written("Write rows (.csv, .parquet, .json) or a matrix (.npy, .mtx, .mtx.gz)")
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
