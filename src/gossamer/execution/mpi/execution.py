"""A rank's operations on buffers that stay: prepared once, run often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import errors
from gossamer.errors import ModelError, TaskError

if TYPE_CHECKING:
    from gossamer.programs import Program

# What one rank needs to run, made on rank 0 and sent to each rank.

_COLUMNS = ("slot", "kind", "peer", "buffer", "offset", "operand", "after", "part")


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

    Raises GossamerError: on all ranks, what `make` raised on rank 0; or if the program is for another number of ranks
    or has switches.
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
    reduces = "reduce" in program.task.name or any(bool((each.kind == _REDUCE).any()) for each in program)
    for operations in program:
        tables = Tables(
            {name: getattr(operations, name) for name in _COLUMNS},
            operations.copies,
            (operations.input_size, operations.output_size, operations.scratch_size),
            program.parts,
            program.task.name,
            reduces,
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


_SEND, _REDUCE = 0, 2
_SCRATCH = 2


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


class Execution:
    """A persistent collective: `start` and `wait`, as often as wanted, on the same buffers.

    Made by `Collective.init`. Requests are set up once, for each slot; `start` begins the first slot, `wait` goes
    through the others. A slot is over when the rank's sends and receives of that slot are; there is no barrier.
    """

    def __init__(
        self,
        comm: Any,
        tables: Tables,
        size: int,
        buffers: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        operator: Any,
        before: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = (),
        after: Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = (),
    ) -> None:
        self._parts, self._size, self._operator = tables.parts, size, operator
        longest = -(-size // tables.parts)
        scratch = np.empty(tables.sizes[_SCRATCH] * longest, buffers[0].dtype)
        self._buffers = (*buffers, scratch)
        self._longest = longest
        self._after = after
        own = [(self._view(1, o, 0), self._view(0, i, 0)) for i, o in tables.copies.tolist()]
        self._copies = [*before, *((to, given) for to, given in own if not np.shares_memory(to, given))]
        self._slots = self._prepared(comm, tables)
        self._running = False

    def _view(self, buffer: int, offset: int, part: int) -> npt.NDArray[Any]:
        """Return the elements of a block; part p of n elements begins at p n / parts."""
        if buffer == _SCRATCH:
            first = offset * self._longest
        else:
            message, part = divmod(offset, self._parts)
            first = message * self._size + part * self._size // self._parts
        length = (part + 1) * self._size // self._parts - part * self._size // self._parts
        return self._buffers[buffer][first : first + length]

    def _prepared(self, comm: Any, tables: Tables) -> list[tuple[list[Any], list[tuple[Any, Any, Any]]]]:
        """Return, for each slot, the requests, and what is done with what came once they are complete.

        That is (what came, its place, to what it is added): None where it takes the place of what is there.
        """
        from mpi4py import MPI

        element = datatype(self._buffers[_SCRATCH].dtype, self._operator)
        found: dict[int, tuple[list[Any], list[Any], list[tuple[Any, Any, Any]]]] = {}
        first = tables.columns["slot"].searchsorted(tables.columns["slot"]).tolist()  # operation of each one's slot
        kinds = tables.columns["kind"].tolist()
        columns = zip(*(tables.columns[n].tolist() for n in _COLUMNS), first, strict=True)
        for slot, kind, peer, buffer, offset, operand, after, part, begins in columns:
            receives, sends, sums = found.setdefault(slot, ([], [], []))
            place = self._view(buffer, offset, part)
            if kind == _SEND:
                sends.append(comm.Send_init([place, element], peer, 0))
            elif kind == _REDUCE:
                came = np.empty_like(place)
                receives.append(comm.Recv_init([came, element], peer, 0))
                sums.append((came, place, place if operand < 0 else self._view(0, operand, part)))
            elif after >= begins and kinds[after] == _SEND:  # what lies there is sent in this slot
                came = np.empty_like(place)
                receives.append(comm.Recv_init([came, element], peer, 0))
                sums.append((came, place, None))
            else:
                receives.append(comm.Recv_init([place, element], peer, 0))
        self._datatype, self._request = element, MPI
        return [(receives + sends, sums) for receives, sends, sums in (found[slot] for slot in sorted(found))]

    def start(self) -> None:
        """Begin; the input must stay as it is until `wait` returns."""
        if self._running:
            raise ModelError("the collective has been started and not waited for")
        self._running = True
        for to, given in self._copies:
            to[...] = given
        if self._slots:
            self._request.Prequest.Startall(self._slots[0][0])

    def wait(self) -> None:
        """Return when the output is complete."""
        if not self._running:
            raise ModelError("the collective has not been started")
        requests = self._request
        for i, (pending, sums) in enumerate(self._slots):
            if i:
                requests.Prequest.Startall(pending)
            requests.Request.Waitall(pending)
            for came, place, own in sums:
                if own is None:
                    place[...] = came
                    continue
                if own is not place:
                    place[...] = own
                self._operator.Reduce_local([came, self._datatype], [place, self._datatype])
        for to, given in self._after:
            to[...] = given
        self._running = False

    def run(self) -> None:
        """Start and wait."""
        self.start()
        self.wait()

    def free(self) -> None:
        """Give the requests back; it cannot be run again."""
        for pending, _ in self._slots:
            for request in pending:
                request.Free()
        self._slots = []


def datatype(dtype: np.dtype[Any], operator: Any) -> Any:
    """Return MPI's datatype of elements, bytes where nothing is added; TaskError if MPI cannot add them."""
    from mpi4py import MPI

    if operator is None:
        return MPI.BYTE
    try:
        return MPI.Datatype.fromcode(dtype.char)
    except (ValueError, TypeError, KeyError):
        raise TaskError(f"MPI cannot add elements of type {dtype}") from None
