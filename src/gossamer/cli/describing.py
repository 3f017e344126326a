"""``gossamer network``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.cli.console import print_entries, print_json, progress
from gossamer.cli.verify import is_picture
from gossamer.errors import FileFormatError

__all__ = ["network"]


def network(given: Any, output: list[Path], json: bool) -> None:
    """Print what a network is; write it to files and draw it."""
    from gossamer.networks.as_network import as_network
    from gossamer.networks.description import describe
    from gossamer.networks.files import write_network
    from gossamer.networks.recognition import recognized

    _check(output)
    with progress() as stage:
        stage("reading")
        net = as_network(given)
        stage("looking at the network")
        found = describe(net)
        for path in output:
            stage(f"writing {path}")
            if is_picture(path):
                from gossamer.plots.network import draw_network

                draw_network(recognized(net), path, found.cut)
            else:
                write_network(net, path)
    if json:
        print_json(found.to_dict())
        return
    rows = [*found.rows(), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)


def demands(network: Any, task: str, task_words: dict[str, Any], seed: int, output: list[Path], json: bool) -> None:
    """Print a task as a table of demands, and write it to files."""
    from gossamer.networks.as_network import as_network
    from gossamer.questions.tasks import as_table, write_table
    from gossamer.questions.tasks.wording import asked_task

    net = as_network(network)
    table = as_table(asked_task(task, task_words, net, seed), net)
    for path in output:
        write_table(table, path, net)
    if json:
        print_json({"network": net.spec, **table.to_dict()})
        return
    rows = [("network", net.spec), ("task", table.describe()), *(("wrote", str(path)) for path in output)]
    print_entries((label, [text]) for label, text in rows)


def _check(output: list[Path]) -> None:
    """Refuse files of no known kind, and those that cannot be written, before the work."""
    from gossamer.networks.files import writable_suffixes
    from gossamer.plots.drawing import FORMATS
    from gossamer.writing import check_writable

    for path in output:
        if not is_picture(path) and path.suffix.lower() not in writable_suffixes():
            allowed = f"a network is {', '.join(writable_suffixes())}, a picture .{', .'.join(FORMATS)}"
            raise FileFormatError(f"{str(path)!r} is of no known kind; {allowed}")
        check_writable(path)
