"""Collectives with the buffers of MPI's, by schedules; and what MPI does for the executor.

Each rank gets its operations from rank 0, and has persistent requests for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import errors
from gossamer.errors import FileFormatError, GossamerError, ModelError, NetworkError, TaskError, shown
from gossamer.execution.executor import Execution, elements_of_messages
from gossamer.networks.network import Network
from gossamer.programs import REDUCE
from gossamer.reading.files import read_text
from gossamer.schedules import Schedule, expand

if TYPE_CHECKING:
    from gossamer.programs import Operations, Program

__all__ = [
    "Allgather",
    "Allreduce",
    "Alltoall",
    "Broadcast",
    "Gather",
    "MPICollective",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "numbered_by_ranks",
    "read_nodes",
]

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


# Which rank runs which node.


def numbered_by_ranks(schedule: Schedule, nodes: Sequence[int]) -> Schedule:
    """Return a schedule with every node renamed to the rank that runs it.

    Parameters
    ----------
    schedule : Schedule
        On a network in which every node is a terminal.
    nodes : sequence of int
        The node of each rank.

    Raises
    ------
    NetworkError
        If not every node is there once.

    Examples
    --------
    >>> import gossamer
    >>> turned = numbered_by_ranks(gossamer.plan("array:3", "gather").schedule, [2, 0, 1])
    >>> turned.task, bool(gossamer.verify(turned))
    (Gather(root=1), True)
    """
    network = schedule.network
    n = network.node_count
    given = [int(v) for v in nodes]
    if sorted(given) != list(range(n)):
        raise NetworkError(
            f"the nodes of the ranks must be every node of {network.spec} once, 0..{n - 1}; got {shown(given)}"
        )
    rank_of = np.empty(n, np.int64)
    rank_of[given] = np.arange(n)
    source, target = rank_of[network.link_source], rank_of[network.link_target]
    order = np.lexsort((np.arange(source.size), source))
    renamed = Network(
        f"{network.spec} by ranks",
        n,
        source[order],
        target[order],
        network.link_capacity[order],
        link_occupancy=network.link_occupancy[order],
        link_latency=network.link_latency[order],
        links_only=True,
    )
    return expand(schedule).relabel(rank_of.tolist(), renamed)


def read_nodes(path: str | os.PathLike[str], network: Network) -> list[int]:
    """Return the node of each rank from a file with a line for each: the rank, then the node or its coordinates.

    Raises
    ------
    FileFormatError
        If a line is not that, or a rank is missing or there twice.
    NetworkError
        If there is no such node.
    """
    name = str(path)
    lines = read_text(path).splitlines()
    found: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        words = re.split(r"[\s,;:()]+", line.partition("#")[0].strip(" \t,;:()"))
        if words == [""]:
            continue
        if len(words) < 2 or not all(re.fullmatch("[0-9]{1,9}", w) for w in words):
            raise FileFormatError(
                f"{name!r}, line {number}: want a rank and a node or its coordinates, got {shown(line)}"
            )
        rank, *place = map(int, words)
        if rank in found:
            raise FileFormatError(f"{name!r}, line {number}: rank {rank} is there twice")
        found[rank] = network.node(place[0] if len(place) == 1 else tuple(place))
    missing = [rank for rank in range(len(found)) if rank not in found]
    if missing:
        raise FileFormatError(f"{name!r} has no line for rank {missing[0]}")
    return [found[rank] for rank in range(len(found))]


Elements = npt.NDArray[Any]


class MPICollective:
    """A schedule on a communicator; collective, as everything here is.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        Rank r runs node r of the network. The communicator is duplicated.
    plan : callable
        Gives the schedule; asked on rank 0 only.
    nodes : sequence of int, optional
        The node that each rank runs, where it is not its own number. Buffers stay in the order of ranks.

    Raises
    ------
    GossamerError
        On all ranks, if there is no such schedule, or it is for another number of ranks or has switches.

    Notes
    -----
    A message is as many elements of any type; where it is cut into parts that do not divide them, parts differ by one.
    Floating-point sums are added in the order of the schedule, so their last bits may differ from those of MPI.
    """

    task: str = ""

    def __init__(self, comm: Any, plan: Callable[[], Any], nodes: Sequence[int] | None = None) -> None:
        self._comm = comm.Dup()
        self._tables = distributed(self._comm, lambda: _program(plan(), nodes, comm.size))
        self._known: tuple[Any, Execution] | None = None

    def __call__(self, sendbuf: Any, recvbuf: Any = None, op: Any = None) -> None:
        """Carry it out.

        Parameters
        ----------
        sendbuf, recvbuf : array, buffer or None
            What MPI's collective of this name takes, in whole messages; None where the rank has nothing to send, or
            gets nothing.
        op : mpi4py.MPI.Op, optional
            Of reductions: what combines, and must be commutative. Default: ``MPI.SUM``.

        Raises
        ------
        TaskError
            If the sizes of the buffers, or types of elements to be combined, do not fit together, on this rank or among
            the ranks; on all ranks.
        ModelError
            If the operator is not commutative.
        """
        key = (*(None if b is None else _identity(b) for b in (sendbuf, recvbuf)), op)
        # an execution made for these buffers is used again; whether all ranks have one, they agree on
        same = self._known is not None and self._known[0] == key
        if not self._comm.allreduce(int(same), op=_least()):
            if self._known is not None:
                self._known[1].free()
            self._known = (key, self.init(sendbuf, recvbuf, op))
        assert self._known is not None
        self._known[1].run()

    def init(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> Execution:
        """Return an execution on these buffers, to be started and waited for any number of times; collective."""
        tables, operator = self._tables, None
        none = np.zeros(0, np.uint8)
        wrong: tuple[str, str] | None = None  # told together with what the other ranks found
        size: int | None = None
        kind: np.dtype[Any] | None = None
        buffers: tuple[Elements, Elements] = none, none
        before: list[tuple[Elements, Elements]] = []
        after: list[tuple[Elements, Elements]] = []
        try:
            given, got = (none if b is None else flat(b, w) for b, w in ((sendbuf, "send"), (recvbuf, "receive")))
            if tables.reduces:
                from mpi4py import MPI

                operator = MPI.SUM if op is None else op
                if not operator.Is_commutative():
                    raise ModelError("a schedule combines blocks in any order; the operator must be commutative")
                kind = _combined_type(given, got, operator)
            else:
                given, got = given.view(np.uint8), got.view(np.uint8)
            buffers, before, after = self._fitted(given, got)
            counts, unit = [buffer.size for buffer in buffers], "elements" if tables.reduces else "bytes"
            names = ("send buffer", "receive buffer")
            size = elements_of_messages(tables.operations, tables.parts, counts, names, unit)
        except GossamerError as error:
            wrong = type(error).__name__, str(error)
        size, kind = _agreed(self._comm.allgather((wrong, size, kind)))
        buffers = buffers[0].view(kind), buffers[1].view(kind)
        backend = MPIBackend(self._comm, kind, operator)
        return Execution(tables.operations, tables.parts, size, buffers, backend, before, after)

    def _fitted(
        self, given: Elements, got: Elements
    ) -> tuple[tuple[Elements, Elements], list[tuple[Elements, Elements]], list[tuple[Elements, Elements]]]:
        """Return the buffers to work on, and what is copied to what before and after."""
        return (given, got), [], []

    def free(self) -> None:
        """Give the communicator and the requests back."""
        if self._known is not None:
            self._known[1].free()
            self._known = None
        self._comm.Free()


class _Named(MPICollective):
    """A collective planned by its name."""

    def __init__(self, comm: Any, network: Any = None, *, nodes: Sequence[int] | None = None, **choices: Any) -> None:
        spec = _of_communicator(comm) if network is None else network
        fields = {word: choices.pop(word) for word in ("root", "groups") if word in choices}
        self._groups: list[list[int]] = [list(group) for group in fields.get("groups", [range(comm.size)])]
        if nodes is not None:
            if "groups" in fields:  # its root is a rank in each of them
                fields["groups"] = [[nodes[rank] for rank in group] for group in self._groups]
            elif "root" in fields:
                fields["root"] = nodes[fields["root"]]
        name = self.task

        def plan() -> Any:
            from gossamer.planning.planner import plan as planned
            from gossamer.questions.tasks import task

            return planned(spec, task(name, **fields), **choices).schedule

        super().__init__(comm, plan, nodes)


class Allgather(_Named):
    """Every rank gets the message of every rank: ``Allgather(comm, "torus:4x4")(mine, all)``.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        A communicator.
    network : object, optional
        What `gossamer.network` takes. Default: the torus or array of a Cartesian communicator.
    nodes : sequence of int, optional
        The node that each rank runs.
    groups : sequence of sequences of int, optional
        Ranks in each of which it is carried out, in this order; the others pass messages on, and give and get none. All
        groups have messages of one size. A rank of several groups gives and gets the messages of each, one after the
        other.
    **choices
        As `gossamer.plan` takes them, such as ``rules=gossamer.Rules(segmented=True)``.
    """

    task = "allgather"


class Alltoall(_Named):
    """Every rank gets a message of its own from every rank; parameters as those of `Allgather`."""

    task = "alltoall"


class ReduceScatter(_Named):
    """Rank r gets the sum of all ranks' messages r (MPI_Reduce_scatter_block); parameters as those of `Allgather`."""

    task = "reduce-scatter"


class Allreduce(_Named):
    """Every rank gets the sum of all ranks' vectors; parameters as those of `Allgather`.

    A vector whose elements are not a multiple of the ranks is copied into one that is. In groups of several sizes all
    vectors have as many elements; those of the larger groups are copied into longer ones.
    """

    task = "allreduce"

    def _fitted(
        self, given: Elements, got: Elements
    ) -> tuple[tuple[Elements, Elements], list[tuple[Elements, Elements]], list[tuple[Elements, Elements]]]:
        messages = self._tables.sizes[0] // self._tables.parts
        width = -(-given.size // min(map(len, self._groups)))
        missing = messages * width - given.size
        alone = len({rank for group in self._groups for rank in group}) == sum(map(len, self._groups))
        if missing <= 0 or given.size != got.size or not alone:
            return (given, got), [], []
        wide = np.zeros(given.size + missing, given.dtype), np.zeros(got.size + missing, got.dtype)
        return wide, [(wide[0][: given.size], given)], [(got, wide[1][: got.size])]


class Broadcast(_Named):
    """Every rank gets the root's message; parameters as those of `Allgather`, and ``root=``, a rank.

    In groups the root is a rank of each group.
    """

    task = "broadcast"

    def __call__(self, sendbuf: Any, recvbuf: Any = None, op: Any = None) -> None:
        """Carry it out, from the root's buffer into those of the others, as MPI_Bcast does."""
        super().__call__(sendbuf if self._tables.sizes[0] else None, sendbuf if recvbuf is None else recvbuf)


class Reduce(_Named):
    """The root gets the sum of all ranks' messages; parameters as those of `Broadcast`."""

    task = "reduce"


class Gather(_Named):
    """The root gets the message of every rank; parameters as those of `Broadcast`."""

    task = "gather"


class Scatter(_Named):
    """Every rank gets a message of its own from the root; parameters as those of `Broadcast`."""

    task = "scatter"


def _combined_type(given: Elements, got: Elements, operator: Any) -> np.dtype[Any] | None:
    """Return the type of the elements that are combined, None on a rank that has none of them."""
    types = [b.dtype for b in (given, got) if b.size]
    if len(set(types)) > 1:
        raise TaskError(f"the elements of the send buffer are of type {types[0]}, of the receive buffer {types[1]}")
    if types:
        datatype(types[0], operator)
    return types[0] if types else None


def _agreed(told: Sequence[tuple[tuple[str, str] | None, int | None, Any]]) -> tuple[int, np.dtype[Any]]:
    """Return the elements of a message and their type, the same on all ranks; the error of one rank on all."""
    for rank, (wrong, _, _) in enumerate(told):
        if wrong is not None:
            raise getattr(errors, wrong[0])(f"rank {rank}: {wrong[1]}")
    sizes = {size for _, size, _ in told if size is not None}
    if len(sizes) > 1:
        raise TaskError(f"ranks have messages of {min(sizes)} and of {max(sizes)} elements")
    kinds = {kind for _, _, kind in told if kind is not None}
    if len(kinds) > 1:
        raise TaskError(f"ranks have elements of types {' and '.join(sorted(map(str, kinds)))}")
    return sizes.pop() if sizes else 0, kinds.pop() if kinds else np.dtype(np.uint8)


def _least() -> Any:
    from mpi4py import MPI

    return MPI.MIN


def _identity(buffer: Any) -> tuple[Any, ...]:
    """Return what tells whether a buffer is the one of the last call."""
    try:
        array = flat(buffer, "given")
    except TaskError:
        return (id(buffer),)
    return array.ctypes.data, array.size, array.dtype.str


def _of_communicator(comm: Any) -> str:
    """Return the network of a Cartesian communicator."""
    from mpi4py import MPI

    if comm.Get_topology() != MPI.CART:
        raise NetworkError("name the network; only a Cartesian communicator says what it is")
    periods = comm.periods
    if len(set(map(bool, periods))) > 1:
        raise NetworkError("the communicator is periodic in some dimensions only; name the network")
    return f"{'torus' if periods[0] else 'array'}:{'x'.join(map(str, comm.dims))}"


def _program(made: Any, nodes: Sequence[int] | None, ranks: int) -> Program:
    """Return the program of a schedule, its nodes numbered by the ranks that run them."""
    from gossamer.interchange.format import between_ranks
    from gossamer.programs import lower

    schedule = between_ranks(getattr(made, "schedule", made))
    return lower(schedule if nodes is None else numbered_by_ranks(schedule, nodes))
