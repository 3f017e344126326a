"""The table of commands; each imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from gossamer.cli.arrivals import simulate_arrivals
from gossamer.cli.command_group import WIDTH, Commands, dressed, group
from gossamer.cli.compare import bounds, compare
from gossamer.cli.design import design
from gossamer.cli.doctor import compile_all, doctor, manual
from gossamer.cli.draw import draw, explore
from gossamer.cli.export import certify, export, import_foreign, run
from gossamer.cli.list import list_known
from gossamer.cli.network import demands, network, place, routes
from gossamer.cli.plan import faults, plan, replan
from gossamer.cli.simulate import simulate_schedule, simulate_wormhole
from gossamer.cli.sweep import commands as sweep
from gossamer.cli.sweep import reproduce
from gossamer.cli.traffic import deadlock, simulate_saturation, simulate_traffic
from gossamer.cli.verify import explain, verify

__all__ = ["app"]

app = typer.Typer(
    name="gossamer",
    cls=Commands,
    help="Collective communication on interconnection networks: verified schedules beside lower bounds.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH, "color": True},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(shown: bool) -> None:
    if shown:
        from gossamer.version import __version__

        print(f"gossamer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options before the command."""


simulate = group(
    "simulate", "Simulate what cannot be scheduled ahead, or a schedule: 'gossamer simulate plan.parquet' replays one."
)
_SIMULATIONS: dict[str, Callable[..., None]] = {
    "schedule": simulate_schedule,
    "wormhole": simulate_wormhole,
    "arrivals": simulate_arrivals,
    "traffic": simulate_traffic,
    "saturation": simulate_saturation,
}
for _name, _command in _SIMULATIONS.items():
    simulate.command(_name)(_command)
app.add_typer(simulate)
app.add_typer(sweep)
_COMMANDS: dict[str, Callable[..., None]] = {
    "plan": plan, "compare": compare, "bounds": bounds, "replan": replan, "faults": faults,
    "list": list_known, "network": network, "demands": demands, "routes": routes, "place": place,
    "verify": verify, "certify": certify, "draw": draw, "explore": explore, "explain": explain,
    "run": run, "export": export, "import": import_foreign,
    "deadlock": deadlock, "design": design, "reproduce": reproduce,
    "compile": compile_all, "doctor": doctor, "manual": manual,
}  # fmt: skip
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
dressed(app)
