"""One executor for the operations of a rank: it sends, receives, copies and adds with the calls of a back end.

A back end is what differs between MPI, PyTorch and sockets: how requests are made, begun and waited for, and how blocks
are copied and combined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from gossamer.errors import ModelError, TaskError
from gossamer.programs import INPUT, OUTPUT, REDUCE, SCRATCH, SEND, Operations

__all__ = ["Backend", "Execution", "elements_of_messages"]

Block = Any
"""Elements that lie one after the other: an array of NumPy, a tensor of PyTorch."""


class Backend(Protocol):
    """What the executor calls.

    Requests of one slot are prepared together. Between two ranks blocks are matched in the order in which both begin
    them, so that no block needs a name.
    """

    def empty(self, count: int) -> Block:
        """Return a new block of so many elements of the type that is sent."""

    def copy(self, to: Block, given: Block) -> None:
        """Copy a block to another place."""

    def combine(self, to: Block, came: Block) -> None:
        """Combine the block at a place with one that came."""

    def prepare(self, receives: list[tuple[int, Block]], sends: list[tuple[int, Block]]) -> Any:
        """Return the requests of a slot: peers, and where what comes is put or what goes lies."""

    def begin(self, requests: Any) -> None:
        """Begin all of them."""

    def complete(self, requests: Any) -> None:
        """Return when all of them are complete."""

    def free(self, requests: Any) -> None:
        """Give them back."""


class _Slot(NamedTuple):
    """A slot: its requests, what is done with what came, and how many of the slots before must be over when it begins.

    ``sums`` holds (what came, its place, what it is added to), None for the last where it takes the place.
    """

    requests: Any
    sums: list[tuple[Block, Block, Block | None]]
    needs: int


class Execution:
    """The operations of a rank on buffers that stay: prepared once, started and waited for any number of times.

    Parameters
    ----------
    operations : Operations
        Of this rank.
    parts : int
        Blocks of a message.
    size : int
        Elements of a message; part p of n elements begins at ``p * n // parts``.
    buffers : tuple of two blocks
        Input and output, of whole messages.
    backend : Backend
        What carries it out.
    before, after : sequence of (block, block), optional
        What is copied, to a place from another, at the start and at the end.

    Notes
    -----
    Slots are begun in their order. One begins as soon as those are over from which its operations take something, or
    whose places they use again, by `Operations.after`; later ones are still on their way. There is no barrier. Python
    takes some microseconds for each operation.
    """

    def __init__(
        self,
        operations: Operations,
        parts: int,
        size: int,
        buffers: tuple[Block, Block],
        backend: Backend,
        before: Sequence[tuple[Block, Block]] = (),
        after: Sequence[tuple[Block, Block]] = (),
    ) -> None:
        self._backend, self._parts, self._size = backend, parts, size
        self._longest = -(-size // parts)
        self._buffers = (*buffers, backend.empty(operations.scratch_size * self._longest))
        own = [
            (self._place(OUTPUT, o, o % parts), self._place(INPUT, i, i % parts)) for i, o in operations.copies.tolist()
        ]
        self._before, self._after = [*before, *own], after
        self._slots = self._prepared(operations)
        self._running = False
        self._begun = self._over = 0  # slots

    def _place(self, buffer: int, offset: int, part: int) -> Block:
        """Return the elements of a block."""
        length = (part + 1) * self._size // self._parts - part * self._size // self._parts
        if buffer == SCRATCH:
            first = offset * self._longest
        else:
            message, part = divmod(offset, self._parts)
            first = message * self._size + part * self._size // self._parts
        return self._buffers[buffer][first : first + length]

    def _prepared(self, operations: Operations) -> list[_Slot]:
        names = ("slot", "kind", "peer", "buffer", "offset", "operand", "after", "part")
        columns = [getattr(operations, name).tolist() for name in names]
        kinds = columns[1]
        number: dict[int, int] = {slot: i for i, slot in enumerate(dict.fromkeys(columns[0]))}
        of = [number[slot] for slot in columns[0]]
        found: list[tuple[list[Any], list[Any], list[Any]]] = [([], [], []) for _ in number]
        needs = [0] * len(number)
        for here, (_, kind, peer, buffer, offset, operand, after, part) in zip(
            of, zip(*columns, strict=True), strict=True
        ):
            receives, sends, sums = found[here]
            place = self._place(buffer, offset, part)
            same = after >= 0 and of[after] == here
            if after >= 0 and not same:
                needs[here] = max(needs[here], of[after] + 1)
            if kind == SEND:
                sends.append((peer, place))
                continue
            came = place
            if kind == REDUCE:
                came = self._backend.empty(len(place))
                sums.append((came, place, place if operand < 0 else self._place(INPUT, operand, part)))
            elif same and kinds[after] == SEND:  # what lies there is sent in this slot
                came = self._backend.empty(len(place))
                sums.append((came, place, None))
            receives.append((peer, came))
        return [
            _Slot(self._backend.prepare(receives, sends), sums, need)
            for (receives, sends, sums), need in zip(found, needs, strict=True)
        ]

    def start(self) -> None:
        """Begin; the input must stay as it is until `wait` returns."""
        if self._running:
            raise ModelError("the collective has been started and not waited for")
        self._running, self._begun, self._over = True, 0, 0
        for to, given in self._before:
            self._backend.copy(to, given)
        self._begin()

    def _begin(self) -> None:
        """Begin the slots that wait for nothing."""
        while self._begun < len(self._slots) and self._slots[self._begun].needs <= self._over:
            self._backend.begin(self._slots[self._begun].requests)
            self._begun += 1

    def wait(self) -> None:
        """Return when the output is complete."""
        if not self._running:
            raise ModelError("the collective has not been started")
        backend = self._backend
        while self._over < len(self._slots):
            slot = self._slots[self._over]
            backend.complete(slot.requests)
            for came, place, own in slot.sums:
                if own is None:
                    backend.copy(place, came)
                    continue
                if own is not place:
                    backend.copy(place, own)
                backend.combine(place, came)
            self._over += 1
            self._begin()
        for to, given in self._after:
            backend.copy(to, given)
        self._running = False

    def run(self) -> None:
        """Start and wait."""
        self.start()
        self.wait()

    def free(self) -> None:
        """Give the requests back; it cannot be run again."""
        for slot in self._slots:
            self._backend.free(slot.requests)
        self._slots = []


def elements_of_messages(
    operations: Operations, parts: int, counts: Sequence[int], names: Sequence[str], unit: str = "elements"
) -> int | None:
    """Return how many elements a message has, from those of input and output; None where the rank has no messages.

    Raises TaskError if they are not whole messages, or messages of two sizes; `names` are of what holds them.
    """
    found = set()
    for count, places, name in zip(counts, (operations.input_size, operations.output_size), names, strict=True):
        messages = places // parts
        if count % messages if messages else count:
            raise TaskError(f"the {name} has {count} {unit} for {messages} messages")
        if messages:
            found.add(count // messages)
    if len(found) > 1:
        raise TaskError(
            f"messages have {' and '.join(map(str, sorted(found)))} {unit} in the {' and the '.join(names)}"
        )
    return found.pop() if found else None
