"""Pages on which simulations can be explored: what ``-o page.html`` of a simulating command writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.networks import Network
    from gossamer.simulation.flits import TrafficSettings
    from gossamer.simulation.random_arrivals.schemes import Mix
    from gossamer.simulation.random_arrivals.settings import Settings

__all__ = ["broadcasts", "check", "check_schemes", "pages", "traffic"]

_STEPS, _CYCLES = 200, 1000
"""The most steps and cycles of a simulation on a page."""


def pages(output: list[Path]) -> tuple[list[Path], list[Path]]:
    """Return the pages among files, and the others."""
    found = [path for path in output if path.suffix.lower() == ".html"]
    return found, [path for path in output if path not in found]


def check(paths: list[Path], simulations: int) -> None:
    """Refuse pages that cannot be written, or would show more than two simulations, before the work."""
    from gossamer.cli.pictures import check_page

    if paths and simulations > 2:
        raise ModelError(
            f"{str(paths[0])!r} shows one simulation, or two side by side, not {simulations}: name one load"
        )
    for path in paths:
        check_page(path)


def check_schemes(paths: list[Path], names: list[str], network: Network) -> None:
    """Refuse schemes that no page can show, before the work."""
    from gossamer.simulation.random_arrivals.schemes import scheme

    for name in names if paths else ():
        scheme(name, network)


def broadcasts(
    network: Network,
    names: list[str],
    loads: Sequence[float],
    nodes: Any,
    settings: Settings,
    page: Path,
    mix: Mix | None = None,
) -> None:
    """Record schemes at loads, and write the page that shows them."""
    from gossamer.explorer import explore
    from gossamer.simulation.random_arrivals import record
    from gossamer.simulation.random_arrivals.schemes import scheme

    short = settings if settings.steps is None else replace(settings, steps=min(settings.steps, _STEPS))
    at: Sequence[float | None] = loads or (None,)
    schemes = [scheme(name, network) if mix is None else mix.of(scheme(name, network)) for name in names]
    explore(
        [record(made, load=load, nodes=nodes, settings=short, above_limit=True)
         for made in schemes for load in at],
        page,
    )  # fmt: skip


def traffic(networks: list[str], where: Any, loads: Sequence[float], settings: TrafficSettings, page: Path) -> None:
    """Record random traffic on networks at loads, and write the page that shows them."""
    from gossamer.explorer import explore
    from gossamer.networks import as_network
    from gossamer.simulation.flits import record_traffic

    nets = [as_network(text) for text in networks]
    cycles = min(settings.measured, _CYCLES)
    explore(
        [record_traffic(net, where.on(net), load, cycles=cycles, settings=settings) for net in nets for load in loads],
        page,
    )
