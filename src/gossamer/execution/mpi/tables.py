"""What one rank needs to run, made on rank 0 and sent to each rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import errors

if TYPE_CHECKING:
    from gossamer.programs import Program

__all__ = ["Tables", "distributed", "told"]

_COLUMNS = ("slot", "kind", "peer", "buffer", "offset", "operand", "part")


class Tables(NamedTuple):
    """The operations of a rank: columns as those of `gossamer.programs.Operations`, and what all ranks share."""

    columns: dict[str, npt.NDArray[Any]]
    copies: npt.NDArray[np.int32]
    sizes: tuple[int, int, int]
    parts: int
    task: str
    reduces: bool


def distributed(comm: Any, make: Callable[[], Program]) -> Tables:
    """Return each rank's tables of the program that `make` gives on rank 0; collective.

    Raises
    ------
    GossamerError
        On all ranks, what `make` raised on rank 0; or if the program is for another number of ranks or has switches.
    """
    fault: tuple[str, str] | None = None
    program = None
    if comm.rank == 0:
        try:
            program = make()
            fault = _unfit(program, comm.size)
        except errors.GossamerError as error:
            fault = (type(error).__name__, str(error))
    told(comm, fault)
    if program is None:
        received: Tables = comm.recv(source=0, tag=1)
        return received
    mine = None
    for operations in program:
        tables = Tables(
            {name: getattr(operations, name) for name in _COLUMNS},
            operations.copies,
            (operations.input_size, operations.output_size, operations.scratch_size),
            program.parts,
            program.task.name,
            "reduce" in program.task.name,
        )
        if operations.rank == 0:
            mine = tables
        else:
            comm.send(tables, dest=operations.rank, tag=1)
    assert mine is not None
    return mine


def told(comm: Any, fault: tuple[str, str] | None) -> None:
    """Raise on all ranks the error that rank 0 names, a class of `gossamer.errors` and a text; collective."""
    fault = comm.bcast(fault, root=0)
    if fault is not None:
        raise getattr(errors, fault[0])(fault[1])


def _unfit(program: Program, ranks: int) -> tuple[str, str] | None:
    network = program.network
    if network.terminal_count < network.node_count:
        name = network.node_name(network.terminal_count)
        switches = network.node_count - network.terminal_count
        return "NotApplicableError", f"a switch runs no rank; {network.spec} has {switches}, such as {name}"
    if program.ranks != ranks:
        return "NetworkError", f"{network.spec} has {program.ranks} nodes; there are {ranks} ranks"
    return None
