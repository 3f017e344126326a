"""The option ``--without`` of every command that takes a network."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from gossamer.cli.options import taking
from gossamer.errors import ModelError

__all__ = ["fails"]

_OPTION = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        help="What fails: links:0-1,5-6, nodes:17, terminals:17 (they stay as switches), random-links:2%, "
        "random-nodes:1; may be repeated.",
        metavar="WHAT",
    ),
]


def fails(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the option; it gets the network that is left in place of the word for it."""
    listed = list(inspect.signature(command, eval_str=True).parameters.values())

    @functools.wraps(command)
    def run(**given: Any) -> None:
        words = given.pop("without")
        if words:
            given["network"] = _left(given["network"], words, given.get("seed") or 0)
        command(**given)

    place = next(i for i, p in enumerate(listed) if p.name in ("output", "json"))
    option = inspect.Parameter("without", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_OPTION)
    return taking(run, [*listed[:place], option, *listed[place:]])


def _left(network: str | None, words: list[str], seed: int) -> Any:
    from gossamer.networks import as_network
    from gossamer.networks.failures import without

    if network is None:
        raise ModelError("--without goes with a network")
    return without(as_network(network), words, seed)
