"""What MPI does for the executor: operations to each rank, and persistent requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import errors
from gossamer.errors import TaskError
from gossamer.programs import REDUCE

if TYPE_CHECKING:
    from gossamer.programs import Operations, Program

# What one rank needs to run, made on rank 0 and sent to each rank.


class Tables(NamedTuple):
    """The operations of a rank, and what all ranks share."""

    operations: Operations
    parts: int
    task: str
    reduces: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of input and output, in parts."""
        return self.operations.input_size, self.operations.output_size


def distributed(comm: Any, make: Callable[[], Program]) -> Tables:
    """Return each rank's tables of the program that `make` gives on rank 0; collective.

    Raises GossamerError: on all ranks, what `make` raised on rank 0; or if the program is for another number of ranks.
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
    reduces = "reduce" in program.task.name or any(bool((each.kind == REDUCE).any()) for each in program)
    for operations in program:
        tables = Tables(operations, program.parts, program.task.name, reduces)
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
    if program.ranks != ranks:
        return "NetworkError", f"{program.network.spec} has {program.ranks} nodes; there are {ranks} ranks"
    return None


def flat(buffer: Any, name: str) -> npt.NDArray[Any]:
    """Return the elements of a buffer in one dimension, without a copy.

    Raises TaskError if it has no buffer, or its elements do not lie one after the other.
    """
    try:
        array = buffer if isinstance(buffer, np.ndarray) else np.asarray(memoryview(buffer))
    except TypeError:
        raise TaskError(
            f"the {name} buffer must be an array or have the buffer protocol, got {type(buffer).__name__}"
        ) from None
    if not array.flags.c_contiguous:
        raise TaskError(f"the elements of the {name} buffer must lie one after the other; copy it first")
    return array.reshape(-1)


class MPIBackend:
    """Persistent requests of a communicator, and MPI's own operators.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Rank r runs node r.
    dtype : numpy.dtype
        Of the elements.
    operator : mpi4py.MPI.Op or None
        What combines.
    """

    def __init__(self, comm: Any, dtype: np.dtype[Any], operator: Any) -> None:
        from mpi4py import MPI

        self._comm, self._dtype, self._operator = comm, dtype, operator
        self._type, self._mpi = datatype(dtype, operator), MPI

    def empty(self, count: int) -> npt.NDArray[Any]:
        """Return a new array."""
        return np.empty(count, self._dtype)

    def copy(self, to: npt.NDArray[Any], given: npt.NDArray[Any]) -> None:
        """Copy an array."""
        to[...] = given

    def combine(self, to: npt.NDArray[Any], came: npt.NDArray[Any]) -> None:
        """Combine by the operator."""
        self._operator.Reduce_local([came, self._type], [to, self._type])

    def prepare(self, receives: list[tuple[int, Any]], sends: list[tuple[int, Any]]) -> list[Any]:
        """Return persistent requests."""
        return [
            *(self._comm.Recv_init([place, self._type], peer, 0) for peer, place in receives),
            *(self._comm.Send_init([place, self._type], peer, 0) for peer, place in sends),
        ]

    def begin(self, requests: list[Any]) -> None:
        """Start all."""
        self._mpi.Prequest.Startall(requests)

    def complete(self, requests: list[Any]) -> None:
        """Wait for all."""
        self._mpi.Request.Waitall(requests)

    def free(self, requests: list[Any]) -> None:
        """Free all."""
        for request in requests:
            request.Free()


def datatype(dtype: np.dtype[Any], operator: Any) -> Any:
    """Return MPI's datatype of elements, bytes where nothing is added; TaskError if MPI cannot add them."""
    from mpi4py import MPI

    if operator is None:
        return MPI.BYTE
    try:
        return MPI.Datatype.fromcode(dtype.char)
    except (ValueError, TypeError, KeyError):
        raise TaskError(f"MPI cannot add elements of type {dtype}") from None
