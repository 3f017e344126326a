"""Collectives of JAX that carry out verified schedules, for use inside ``shard_map`` and ``jit``.

They need the extra `jax`. A schedule of any number of slots becomes a loop whose body permutes blocks among all devices
as many times as a node has links, so the compiled program stays small. Nothing here imports JAX before it is used.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError, ScheduleError, TaskError, shown
from gossamer.graphs.edge_coloring import color_edges
from gossamer.interchange.format import between_ranks
from gossamer.programs import REDUCE, SEND, Operations, Program, lower
from gossamer.programs.layout import plain_task
from gossamer.questions import tasks
from gossamer.schedules import Schedule, reverse

__all__ = ["Prepared", "all_gather", "all_reduce", "all_to_all", "broadcast", "prepare", "reduce_scatter", "run"]

# Lanes: partial permutations of all devices over which every slot of a schedule can be carried out, and tables.
#
# In a Cayley network the links of one generator are a permutation of all nodes. In others the links are colored so that
# no two of a color leave or enter one node; as many colors as the largest degree are enough.

Table = npt.NDArray[np.int32]


class Prepared:
    """A schedule made ready for JAX: prepare once, use in as many functions as wanted.

    Blocks of a device lie in one array: input, output, scratch, and a spare block at the end which is sent and written
    where a lane is idle.

    Attributes
    ----------
    schedule : Schedule
        What is carried out.
    program : Program
        Its operations.
    lanes : tuple of tuple of (int, int)
        For each lane the pairs (source, target) that may exchange a block in a slot.
    blocks : int
        Blocks of a device, with the spare one.
    output : slice
        Where the output lies.
    send, write, addend : int32[N, T, lanes]
        For each device and slot in which something hops: the block that is sent on a lane, where the block that comes
        is written, and the block to which it is added, -1 where it is not.
    copies : int32[N, C, 2]
        What is copied at the start: from where to where; idle rows copy the spare block.
    """

    def __init__(self, schedule: Schedule) -> None:
        schedule = between_ranks(schedule)
        self.schedule = schedule
        self.program: Program = lower(schedule)
        ranks = list(self.program)
        self.input_blocks = max(mine.input_size for mine in ranks)
        self.output_blocks = max(mine.output_size for mine in ranks)
        self.blocks = self.input_blocks + self.output_blocks + max(mine.scratch_size for mine in ranks) + 1
        self.output = slice(self.input_blocks, self.input_blocks + self.output_blocks)
        lane_of, self.lanes = _lanes(ranks)
        slots = np.unique(np.concatenate([mine.slot for mine in ranks]))
        shape = self.program.ranks, slots.size, len(self.lanes)
        self.send: Table = np.full(shape, self.blocks - 1, np.int32)
        self.write: Table = np.full(shape, self.blocks - 1, np.int32)
        self.addend: Table = np.full(shape, -1, np.int32)
        for mine in ranks:
            self._fill(mine, slots, lane_of)
        most = max(len(mine.copies) for mine in ranks)
        self.copies: Table = np.full((self.program.ranks, most, 2), self.blocks - 1, np.int32)
        for mine in ranks:
            self.copies[mine.rank, : len(mine.copies)] = mine.copies + np.array([0, self.input_blocks])

    def _fill(self, mine: Operations, slots: npt.NDArray[Any], lane_of: dict[tuple[int, int, int], int]) -> None:
        """Write the tables of a device."""
        base = np.array([0, self.input_blocks, self.input_blocks + self.output_blocks])
        place = base[mine.buffer] + mine.offset
        slot = np.searchsorted(slots, mine.slot)
        sends = mine.kind == SEND
        ends = np.where(sends, mine.rank, mine.peer), np.where(sends, mine.peer, mine.rank)
        turn = _turns(mine.slot, *ends)
        lane = np.array([lane_of[key] for key in zip(*(e.tolist() for e in (*ends, turn)), strict=True)], np.int64)
        self.send[mine.rank, slot[sends], lane[sends]] = place[sends]
        self.write[mine.rank, slot[~sends], lane[~sends]] = place[~sends]
        adds = mine.kind == REDUCE
        self.addend[mine.rank, slot[adds], lane[adds]] = np.where(mine.operand < 0, place, mine.operand)[adds]
        # blocks are written lane by lane: of several in a slot, that of the lowest lane meets the operand, or replaces
        into = np.flatnonzero(~sends)
        into = into[np.lexsort((into, place[into], slot[into]))]
        starts = np.flatnonzero((np.diff(slot[into], prepend=-1) != 0) | (np.diff(place[into], prepend=-1) != 0))
        for together in np.split(into, starts[1:]):
            if together.size > 1:
                first = together[0]
                self.addend[mine.rank, slot[first], lane[together]] = place[first]
                met = np.where(adds[first], np.where(mine.operand[first] < 0, place[first], mine.operand[first]), -1)
                self.addend[mine.rank, slot[first], lane[together].min()] = met

    @cached_property
    def dual(self) -> Prepared:
        """What carries gradients back: the schedule reversed in time; of an allreduce itself.

        NotApplicableError if the reversed schedule brings nothing back for some of what a device brings.
        """
        if isinstance(self.collective, tasks.Allreduce | tasks.PartialSumAllreduce):
            return self
        back = Prepared(reverse(self.schedule))
        for mine, other in zip(self.program, back.program, strict=True):
            if (mine.input_size, mine.output_size) != (other.output_size, other.input_size):
                raise NotApplicableError(f"{self.schedule.task.name} has no gradient: device {mine.rank} keeps its own")
        return back

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group; all in one where the task has no groups."""
        task = plain_task(self.schedule.task)
        return task.groups if isinstance(task, tasks.Grouped) else (tuple(range(self.program.ranks)),)

    @property
    def collective(self) -> tasks.Task:
        """What is carried out, in each group."""
        task = plain_task(self.schedule.task)
        return plain_task(task.task) if isinstance(task, tasks.Grouped) else task

    @property
    def parts(self) -> int:
        """Blocks of a message."""
        return self.program.parts

    @property
    def root(self) -> int:
        """The root of a broadcast or reduction, in groups a rank of each, else 0."""
        return int(getattr(self.collective, "root", 0)) if isinstance(self.collective, tasks.Broadcast) else 0


def prepare(schedule: Any) -> Prepared:
    """Return a schedule, or what `gossamer.plan` returned, made ready for JAX.

    Raises
    ------
    ScheduleError, VerificationError, NotApplicableError
        If it is no valid schedule for store and forward, or switches copy or add in it.

    Notes
    -----
    O(operations); three tables of 4 bytes for each device, slot and lane, which the compiled program holds.

    Examples
    --------
    >>> import gossamer
    >>> ready = prepare(gossamer.plan("torus:4x4", "allgather"))
    >>> len(ready.lanes), ready.send.shape
    (4, (16, 4, 4))
    """
    if isinstance(schedule, Prepared):
        return schedule
    found = getattr(schedule, "schedule", schedule)
    if not isinstance(found, Schedule):
        raise ScheduleError(f"a store-and-forward schedule is wanted, got {shown(schedule)}")
    return Prepared(found)


def _turns(slot: npt.NDArray[Any], source: npt.NDArray[Any], target: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return which of the blocks on a link in a slot each is."""
    order = np.lexsort((target, source, slot))
    rows = np.column_stack([slot, source, target])[order]
    new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1)) if len(rows) else np.zeros(0, bool)
    first = np.flatnonzero(new)
    turn = np.empty(slot.size, np.int64)
    turn[order] = np.arange(slot.size) - np.repeat(first, np.diff(np.append(first, slot.size)))
    return turn


def _lanes(ranks: list[Operations]) -> tuple[dict[tuple[int, int, int], int], tuple[tuple[tuple[int, int], ...], ...]]:
    """Return the lane of each (source, target, turn), and the pairs of each lane."""
    used: set[tuple[int, int, int]] = set()
    for mine in ranks:
        sends = mine.kind == SEND
        turn = _turns(mine.slot[sends], np.full(int(sends.sum()), mine.rank), mine.peer[sends])
        used |= {(mine.rank, v, t) for v, t in zip(mine.peer[sends].tolist(), turn.tolist(), strict=True)}
    edges = sorted(used)
    if not edges:
        return {}, ()
    ends = np.array(edges, np.int64)
    color = color_edges(ends[:, 0], ends[:, 1])
    lane_of = dict(zip(edges, color.tolist(), strict=True))
    pairs = [tuple((u, v) for (u, v, _), c in lane_of.items() if c == lane) for lane in range(int(color.max()) + 1)]
    return lane_of, tuple(pairs)


# Collectives on the shards of a mesh axis, by schedules.
#
# The device with index r along the axis runs node r of the schedule's network; an axis may be a tuple of axes of the
# mesh, the first the most significant, so that the axes of a mesh are the dimensions of a torus. Gradients go back over
# the schedule reversed in time. What comes out counts as varying along the axis, even where all devices have the same.
#
# In groups every device has arrays as large as the largest group asks for: entries beyond the size of its own group are
# not sent, and come out as 0, as does everything on devices of no group.

Array = Any


def all_gather(x: Array, axis_name: Any, schedule: Any, *, axis: int = 0, tiled: bool = False) -> Array:
    """Return every device's array, like ``jax.lax.all_gather``.

    Parameters
    ----------
    x : array
        Any shape and dtype.
    axis_name : str or tuple of str
        The mesh axis, or axes.
    schedule : Schedule, Outcome or Prepared
        Of an allgather on as many nodes as the axis has devices.
    axis : int
        Where the new axis of the devices stands, or along which the arrays are put together.
    tiled : bool
        Whether the arrays are put together along `axis` rather than along a new one.

    Raises
    ------
    TaskError
        If the schedule is of another task or for another number of devices.
    """
    import jax.numpy as jnp

    ready, n = _ready(schedule, tasks.MultinodeBroadcast, axis_name)
    everyone = _carried(ready, axis_name, x.reshape(1, -1)).reshape(n, *x.shape)
    moved = jnp.moveaxis(everyone, 0, axis)
    if not tiled:
        return moved
    place = axis % x.ndim
    return jnp.moveaxis(everyone, 0, place).reshape(*x.shape[:place], n * x.shape[place], *x.shape[place + 1 :])


def all_to_all(
    x: Array, axis_name: Any, schedule: Any, split_axis: int = 0, concat_axis: int = 0, *, tiled: bool = False
) -> Array:
    """Return what every device has for this one, like ``jax.lax.all_to_all``; other parameters as in `all_gather`.

    Parameters
    ----------
    split_axis : int
        The axis along which `x` is cut, one piece for each device.
    concat_axis : int
        The axis along which the pieces are put together.
    tiled : bool
        Whether the pieces keep `split_axis`, rather than `split_axis` being one entry for each device.
    """
    import jax.numpy as jnp

    ready, n = _ready(schedule, tasks.TotalExchange, axis_name)
    size = x.shape[split_axis]
    if size % n or (not tiled and size != n):
        raise TaskError(f"axis {split_axis} of x has {size} entries for {n} devices")
    front = jnp.moveaxis(x, split_axis, 0)
    pieces = front.reshape(n, size // n, *front.shape[1:])
    got = _carried(ready, axis_name, pieces.reshape(n, -1)).reshape(pieces.shape)
    if not tiled:
        return jnp.moveaxis(got[:, 0], 0, concat_axis)
    return jnp.concatenate([jnp.moveaxis(got[u], 0, split_axis) for u in range(n)], axis=concat_axis)


def reduce_scatter(
    x: Array, axis_name: Any, schedule: Any, *, scatter_dimension: int = 0, tiled: bool = False
) -> Array:
    """Return this device's share of the sum over all devices, like ``jax.lax.psum_scatter``.

    Parameters
    ----------
    scatter_dimension : int
        The axis of `x` that is shared out; one entry for each device, which is dropped, unless `tiled`.
    tiled : bool
        Whether the axis stays, with as many entries as are this device's.
    """
    import jax.numpy as jnp

    ready, n = _ready(schedule, tasks.ReduceScatter, axis_name)
    size = x.shape[scatter_dimension]
    if size % n or (not tiled and size != n):
        raise TaskError(f"axis {scatter_dimension} of x has {size} entries for {n} devices")
    front = jnp.moveaxis(x, scatter_dimension, 0)
    mine = _carried(ready, axis_name, front.reshape(n, -1)).reshape(size // n, *front.shape[1:])
    return jnp.moveaxis(mine, 0, scatter_dimension) if tiled else mine[0]


def all_reduce(x: Array, axis_name: Any, schedule: Any) -> Array:
    """Return the sum over all devices, like ``jax.lax.psum`` of an array."""
    import jax.numpy as jnp

    ready, n = _ready(schedule, (tasks.Allreduce, tasks.PartialSumAllreduce), axis_name)
    flat = x.reshape(-1)
    blocks = isinstance(ready.collective, tasks.Allreduce)
    width = -(-flat.size // (min(map(len, ready.groups)) if blocks else 1))
    messages = n if blocks else 1
    rows = jnp.pad(flat, (0, messages * width - flat.size)).reshape(messages, width)
    return _carried(ready, axis_name, rows).reshape(-1)[: flat.size].reshape(x.shape)


def broadcast(x: Array, axis_name: Any, schedule: Any) -> Array:
    """Return the array of the device that is the schedule's root; those of the others do not matter."""
    ready, _ = _ready(schedule, tasks.Broadcast, axis_name)
    return _carried(ready, axis_name, x.reshape(1, -1)).reshape(x.shape)


def run(x: Array, axis_name: Any, schedule: Any) -> Array:
    """Return the output of this device from its input, for a schedule of any task, in groups that may overlap too.

    Parameters
    ----------
    x : array
        A row for each message of the device's input, in the order of `gossamer.lower`; as many on all devices as the
        largest input has.
    axis_name, schedule
        As in `all_gather`.

    Returns
    -------
    array
        A row for each message of the device's output, as many as the largest output has, further ones 0.
    """
    ready = prepare(schedule)
    _check_devices(ready, axis_name)
    most = ready.input_blocks // ready.parts
    if x.ndim == 0 or x.shape[0] != most:
        raise TaskError(f"x has {x.shape[0] if x.ndim else 0} rows; an input of this schedule has {most} messages")
    return _carried(ready, axis_name, x.reshape(most, -1)).reshape(-1, *x.shape[1:])


def _ready(
    schedule: Any, kind: type[tasks.Task] | tuple[type[tasks.Task], ...], axis_name: Any
) -> tuple[Prepared, int]:
    """Return a schedule made ready, and the size of its largest group."""
    ready = prepare(schedule)
    if not isinstance(ready.collective, kind):
        wanted = kind[0] if isinstance(kind, tuple) else kind
        raise TaskError(f"a schedule of {wanted.name} is wanted, got one of {ready.collective.name}")
    _check_devices(ready, axis_name)
    members = [device for group in ready.groups for device in group]
    if len(set(members)) < len(members):
        raise TaskError("groups that share a device have the messages of each one after the other; use run")
    return ready, max(map(len, ready.groups))


def _check_devices(ready: Prepared, axis_name: Any) -> None:
    from jax import lax

    devices = int(lax.axis_size(axis_name))
    if devices != ready.program.ranks:
        network = ready.schedule.network
        raise TaskError(f"axis {axis_name!r} has {devices} devices; {network.spec} has {network.node_count} nodes")


def _carried(ready: Prepared, axis_name: Any, messages: Array) -> Array:
    """Return the output messages, one row each, of input messages; differentiable."""
    import jax

    names = (axis_name,) if isinstance(axis_name, str) else tuple(axis_name)
    messages = _varying(messages, names)

    @jax.custom_vjp
    def carry(rows: Array) -> Array:
        return _run(ready, names, rows)

    def backward(nothing: None, rows: Array) -> tuple[Array]:
        return (_run(ready.dual, names, rows),)

    carry.defvjp(lambda rows: (_run(ready, names, rows), None), backward)
    return carry(messages)


def _varying(x: Array, names: tuple[str, ...]) -> Array:
    """Return an array that counts as different along mesh axes, as what comes out of a schedule does."""
    from jax import lax

    for name in names:
        with suppress(ValueError):  # it varies along this axis already
            x = lax.pcast(x, name, to="varying")
    return x


def _run(ready: Prepared, names: tuple[str, ...], messages: Array) -> Array:
    """Carry out the schedule: a loop over slots, each with a permutation of the devices for every lane."""
    import jax.numpy as jnp
    from jax import lax

    axis = names if len(names) > 1 else names[0]
    me = lax.axis_index(axis)
    count, width = messages.shape
    parts = ready.parts
    block = -(-width // parts)
    rows = jnp.pad(messages, ((0, 0), (0, parts * block - width))).reshape(count * parts, block)
    memory = jnp.concatenate([rows, jnp.zeros_like(rows, shape=(ready.blocks - rows.shape[0], block))])
    for given, got in ([jnp.asarray(ready.copies)[me, c, e] for e in (0, 1)] for c in range(ready.copies.shape[1])):
        memory = memory.at[got].set(memory[given])
    adds = bool((ready.addend >= 0).any())

    def slot(memory: Array, tables: tuple[Array, Array, Array]) -> tuple[Array, None]:
        send, write, addend = tables
        came = [lax.ppermute(memory[send[lane]], axis, pairs) for lane, pairs in enumerate(ready.lanes)]
        for lane, blocks in enumerate(came):
            value = jnp.where(addend[lane] >= 0, blocks + memory[addend[lane]], blocks) if adds else blocks
            memory = memory.at[write[lane]].set(value)
        return memory, None

    if ready.lanes:
        tables = tuple(jnp.asarray(t)[me] for t in (ready.send, ready.write, ready.addend))
        memory, _ = lax.scan(slot, memory, tables)
    return memory[ready.output].reshape(-1, parts * block)[:, :width]
