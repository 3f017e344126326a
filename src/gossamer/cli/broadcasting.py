"""The commands for broadcasts that arrive at random."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gossamer.cli.options import Json, NetworkArgument, Words, fails, fills, pictured

__all__ = ["dynamic", "schemes"]


class Arrivals(StrEnum):
    """How broadcast requests arrive."""

    poisson = "poisson"
    bernoulli = "bernoulli"
    on_off = "on-off"


_SIMULATION = (
    Words(
        "simulation/random_arrivals/settings.py",
        "Settings",
        ("time", "ties", "choose", "steps", "warmup", "replications", "seed"),
    ),
)
_REQUESTS = (
    Words("simulation/random_arrivals/schemes/mixed.py", "Mix", ("traffic", "unicasts_to", "set_size", "order")),
)
_INTERVALS = (
    Words(
        "simulation/random_arrivals/intervals.py",
        "interval_scheme",
        ("split", "control_time"),
        flags={"split": "--split/--whole"},
    ),
)

Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Write all that was measured (.csv, .parquet), draw delay against load (.svg, .png, .pdf), or show some "
        "steps at one load in the explorer (.html); may be repeated.",
        metavar="FILE",
    ),
]


@fails
@pictured
@fills(simulation=_SIMULATION, requests=_REQUESTS, intervals=_INTERVALS)
def dynamic(
    network: NetworkArgument,
    *,
    scheme: Annotated[
        list[str] | None,
        typer.Option(help="Scheme, several by commas; see 'gossamer schemes'. Default priority.", metavar="NAME"),
    ] = None,
    load: Annotated[
        str | None, typer.Option(help="Load factors: 0.5, or 0.1,0.5,0.9, or first:last:step.", metavar="LOADS")
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(help="Nodes where requests arrive: a file, numbers 0,5,7, random:M, or all.", metavar="SET"),
    ] = None,
    arrivals: Annotated[Arrivals, typer.Option(help="How requests arrive at every node.")] = Arrivals.poisson,
    burst: Annotated[
        str | None,
        typer.Option(
            help="Mean steps that a node is on and off, for on-off arrivals. Default 20:80.", metavar="ON:OFF"
        ),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Replay requests from a file: time and node (text, .csv, .npy, .parquet).")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Points simulated at once.")] = 1,
    simulation: dict[str, Any],
    requests: dict[str, Any],
    intervals: dict[str, Any],
    output: Output = None,
    json: Json = False,
) -> None:
    """Simulate broadcasts and other requests that arrive at random: delays beside bounds."""
    from gossamer.cli import dynamic as simulated

    process = simulated.arrivals(arrivals.value, trace, burst, load)
    mix = simulated.mix(requests, simulation)
    asked = simulated.Asked(network, tuple(scheme or ()), load, nodes, mix, intervals)
    simulated.dynamic(asked, process, simulation, jobs, output or [], json)


@fails
def schemes(
    network: Annotated[
        str | None, typer.Argument(help="Show only what covers this network, with its limit.", metavar="[NETWORK]")
    ] = None,
    json: Json = False,
) -> None:
    """List the schemes for broadcasts that arrive at random."""
    from gossamer.cli import dynamic as simulated

    simulated.schemes(network, json)
