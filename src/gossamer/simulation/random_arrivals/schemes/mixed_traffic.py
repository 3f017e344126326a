"""Unicasts and multicasts beside the broadcasts of a scheme: further choices in the same tables.

A unicast goes along a shortest path, drawn among some that were drawn when the scheme was made; a multicast goes along
the union of such paths to a set of nodes. All queue at the same links as the broadcasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NotApplicableError, nearest
from gossamer.networks.network import Network
from gossamer.reading import choice, number, whole
from gossamer.reading import seed as read_seed
from gossamer.simulation.random_arrivals.scheme import KINDS, RequestKinds, Scheme, slices
from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows
from gossamer.simulation.random_arrivals.theory.loads import distances

IntArray = npt.NDArray[np.int32]

MOST_ROWS = 20_000_000
"""Hops of all paths at most."""
_SETS = 16
"""Sets of each source from which multicasts are drawn."""


def mixed(
    scheme: Scheme,
    shares: Mapping[str, float],
    *,
    destination: Sequence[int] | IntArray | None = None,
    size: int = 4,
    order: Sequence[str] = (),
    ways: int = 8,
    seed: int = 0,
) -> Scheme:
    """Return a scheme of broadcasts, unicasts and multicasts.

    * `scheme`: how the broadcasts travel, in one part.
    * `shares`: how many requests are of each kind, ``broadcast``, ``unicast`` and ``multicast``, in any unit; those
      that are left out, or 0, do not occur.
    * `destination`: where the unicasts of each node go, -1 or itself for a node that sends none; a pattern of
      `gossamer.questions.tasks.patterns`. Every node makes as many requests as before: one without unicasts more of the
      others. Default: any other node that receives broadcasts, with equal chances.
    * `size`: nodes to which a multicast goes, drawn among 16 sets of each source.
    * `order`: kinds from the most urgent on: a copy of an earlier kind is served before all of later ones, and after
      the named kinds all others. Inside a kind the scheme's classes hold. Default: unicasts and multicasts are in the
      most urgent class of the broadcasts.
    * `ways`: shortest paths drawn for each pair of nodes, among which each unicast draws one.
    * `seed`: of the paths and sets.

    Raises ModelError if a value is illegal; NotApplicableError if the scheme sends in parts, a destination cannot be
    reached, or there would be too many paths.

    Translated schemes stay so for unicasts to any node: all sources share the paths of one. With a `destination` every
    source has tables of its own: O(N * rows) memory.

    Source: Yeh, Varvarigos and Lee 1998: the "dynamic routing" of the abstract, for which the paper has no scheme.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import scheme
    >>> torus = gossamer.network("torus:4x4")
    >>> both = mixed(scheme("priority", torus), {"broadcast": 1, "unicast": 9})
    >>> both.traffic.names, both.traffic.share, both.choice_count
    (('broadcast', 'unicast'), (0.1, 0.9), 124)
    """
    weights = _weights(shares)
    for name in order:
        choice(name, "order", tuple(weights))
    if scheme.parts > 1:
        raise NotApplicableError(
            f"scheme {scheme.name!r} sends in parts; other traffic goes beside unsegmented messages only"
        )
    network = scheme.network
    nodes = (
        network.node_count if int(scheme.counted_receivers[0]) == network.node_count - 1 else scheme.source_nodes.size
    )
    whole(size, "size", 1, max(nodes - 1, 1) if weights.get("multicast") else None)
    whole(ways, "ways", 1, 1000)
    random = np.random.default_rng(read_seed(seed))
    base = scheme if destination is None else at_each_source(scheme)
    starts = base.source_nodes[:1] if base.translated else base.source_nodes
    if starts.size * network.node_count * ways * 4 > MOST_ROWS:
        raise NotApplicableError(
            f"{network.spec} has {starts.size * network.node_count:,} pairs of nodes, too many for {ways} paths each"
        )
    extra, lengths = _RandomPaths(base, starts, ways, random), {}
    known = base.exact_probability or [[Fraction(c) for c in line] for line in base.probability.tolist()]
    parts = {"broadcast": _KindTables(base, known)}
    for name in ("unicast", "multicast"):
        if weights.get(name):
            made = extra.unicasts(destination) if name == "unicast" else extra.multicasts(size)
            parts[name], lengths[name] = made
    return _joined(base, parts, lengths, weights, tuple(order))


def at_each_source(scheme: Scheme) -> Scheme:
    """Return the same scheme with tables of its own for each source: a row is a link and not a generator.

    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import scheme
    >>> each = at_each_source(scheme("star", gossamer.network("torus:3x3")))
    >>> each.check()
    >>> each.translated, each.probability.shape[0]
    (False, 9)
    """
    if not scheme.translated:
        return scheme
    assert scheme.link_table is not None
    n, nodes = scheme.network.node_count, np.arange(scheme.network.node_count)
    link = scheme.link_table[nodes[None, :], scheme.step[:, None]].astype(np.int64)  # of each row, at each node
    at = scheme.network.link_target[link]

    def spread(first: Any, last: Any, where: Any) -> tuple[Any, Any, Any]:
        """Return the children ``first:last`` of rows whose packets are at the nodes `where`, and where they stand."""
        count = (last - first).reshape(-1)
        place, owner = slices(first.reshape(-1), count)
        ends = np.cumsum(count)
        return scheme.children[place].astype(np.int64) * n + where.reshape(-1)[owner], ends - count, ends

    shape = (scheme.row_count, n)
    first, last = (np.broadcast_to(c[:, None], shape) for c in (scheme.child_first, scheme.child_last))
    below, start, end = spread(first, last, at)
    sources = scheme.source_nodes
    entries = (sources.size, *scheme.entry_first.shape[1:])
    where = np.broadcast_to(sources[:, None, None], entries)
    top, top_start, top_end = spread(
        np.broadcast_to(scheme.entry_first, entries), np.broadcast_to(scheme.entry_last, entries), where
    )
    exact = scheme.exact_probability
    return replace(
        scheme,
        step=link.reshape(-1).astype(np.int32),
        translated=False,
        child_first=start,
        child_last=end,
        children=np.concatenate([below, top]),
        priority=np.repeat(scheme.priority, n),
        counted=np.repeat(scheme.counted, n),
        entry_first=(below.size + top_start).reshape(entries),
        entry_last=(below.size + top_end).reshape(entries),
        probability=np.repeat(scheme.probability, sources.size, axis=0),
        receivers=np.repeat(scheme.counted_receivers, sources.size),
        dimension=None,
        link_table=None,
        exact_probability=None if exact is None else exact * sources.size,
    )


def _weights(shares: Mapping[str, float]) -> dict[str, Fraction]:
    """Return the parts of the kinds in the order of `KINDS`."""
    for name, share in shares.items():
        choice(name, "a kind of traffic", KINDS)
        number(share, f"the share of {name}", 0)
    given = {name: Fraction(shares[name]).limit_denominator(10**9) for name in KINDS if shares.get(name)}
    if not given:
        raise ModelError(f"some traffic must have a share above 0: {', '.join(KINDS)}")
    return {name: share / sum(given.values()) for name, share in given.items()}


class _KindTables(NamedTuple):
    """The tables of one kind, and the chance of each choice, of sum 1 or, at a source that sends none, 0."""

    scheme: Scheme
    chances: Sequence[Sequence[Fraction]]


class _RandomPaths:
    """Shortest paths from the sources of a scheme, drawn at random."""

    def __init__(self, base: Scheme, starts: IntArray, ways: int, random: np.random.Generator) -> None:
        self.base, self.starts, self.ways, self.random = base, starts, ways, random
        network = base.network
        everybody = int(base.counted_receivers[0]) == network.node_count - 1
        self.receivers = np.arange(network.node_count) if everybody else base.source_nodes.astype(np.int64)
        self.distance = {int(s): network.distances(int(s)) for s in starts}
        order = np.argsort(network.link_target, kind="stable")
        self._into = np.split(order, np.searchsorted(network.link_target[order], np.arange(1, network.node_count)))
        self._column: dict[int, int] = {}
        if base.translated:
            assert base.link_table is not None
            self._column = {int(e): c for line in base.link_table for c, e in enumerate(line)}

    def path(self, start: int, end: int) -> list[int]:
        """Return the links of a shortest path, the last one first."""
        network, far = self.base.network, self.distance[start]
        links = []
        while end != start:
            into = self._into[end]
            into = into[far[network.link_source[into]] == far[end] - 1]
            if not into.size or far[end] < 0:
                raise NotApplicableError(
                    f"node {network.node_name(end)} cannot be reached from {network.node_name(start)}"
                )
            links.append(int(into[self.random.integers(into.size)]))
            end = int(network.link_source[links[-1]])
        return links

    def _step(self, link: int) -> int:
        return self._column[link] if self.base.translated else link

    def unicasts(self, destination: Sequence[int] | IntArray | None) -> tuple[_KindTables, npt.NDArray[Any]]:
        """Return a scheme with a choice for each path, and the mean distance and farthest distance."""
        rows, entries, chances, lengths = SchemeRows(), [], [], []
        for start in self.starts.tolist():
            ends = [v for v in self.receivers.tolist() if v != start]
            idle = False
            if destination is not None:
                ends, idle = _target(destination, start, ends[0], self.base.network)
            heads = []
            for end in ends:
                for _ in range(self.ways):
                    links = self.path(start, end)
                    row = rows.add(self._step(links[0]))
                    for link in links[1:]:
                        row = rows.add(self._step(link), [row], counted=False)
                    heads.append([[row]])
            entries.append(heads)
            chances.append([Fraction(not idle, len(heads))] * len(heads))
            lengths += [np.mean([self.distance[start][v] for v in ends])] * (not idle)
        if not lengths:
            raise ModelError("no node has another one as destination of its unicasts")
        mean = float(np.mean(lengths))
        return self._finished(rows, entries, chances, 1), np.array([mean, mean])

    def multicasts(self, size: int) -> tuple[_KindTables, npt.NDArray[Any]]:
        """Return a scheme with a choice for each set, and the mean distance to a receiver and to the farthest."""
        rows, entries, far = SchemeRows(), [], []
        for start in self.starts.tolist():
            heads = []
            for _ in range(_SETS):
                ends = self.random.choice(self.receivers[self.receivers != start], size, replace=False)
                heads.append([self._tree(rows, start, ends.tolist())])
                hops = self.distance[start][ends]
                far.append((hops.mean(), hops.max()))
            entries.append(heads)
        chances = [[Fraction(1, _SETS)] * _SETS] * self.starts.size
        return self._finished(rows, entries, chances, size), np.mean(far, axis=0)

    def _tree(self, rows: SchemeRows, start: int, ends: list[int]) -> list[int]:
        """Add the union of shortest paths, and return the rows that the source sends."""
        network = self.base.network
        into: dict[int, int] = {}
        for end in sorted(ends, key=lambda v: -int(self.distance[start][v])):
            at = end
            for link in self.path(start, end):
                if at in into:
                    break  # from here on the tree goes on to the source
                into[at] = link
                at = int(network.link_source[link])
        below: dict[int, list[int]] = {}
        wanted = set(ends)
        for node in sorted(into, key=lambda v: (-int(self.distance[start][v]), v)):
            row = rows.add(self._step(into[node]), below.pop(node, []), counted=node in wanted)
            below.setdefault(int(network.link_source[into[node]]), []).append(row)
        return below.get(start, [])

    def _finished(self, rows: SchemeRows, entries: Any, chances: Any, receivers: int) -> _KindTables:
        base = self.base
        even = [
            [Fraction(1, len(line))] * len(line) for line in chances
        ]  # a scheme of its own asks for chances of sum 1
        made = rows.scheme(
            base.name, base.network, base.source, entries, even, priority="fifo", translated=base.translated,
            receivers=receivers, sources=base.source_nodes.tolist(),
        )  # fmt: skip
        if base.translated:
            made = replace(made, link_table=base.link_table)
        return _KindTables(made, chances)


def _target(destination: Sequence[int] | IntArray, start: int, other: int, network: Network) -> tuple[list[int], bool]:
    """Return where the unicasts of a node go, and whether it sends none; any other node stands for none."""
    given, nodes = np.asarray(destination, np.int64), network.node_count
    if given.shape != (nodes,) or given.min() < -1 or given.max() >= nodes:
        raise ModelError(f"destination must have a node of {network.spec}, or -1, for each of {nodes} nodes")
    idle = int(given[start]) in (-1, start)
    return [other if idle else int(given[start])], idle


def _joined(
    base: Scheme,
    parts: Mapping[str, _KindTables],
    lengths: Mapping[str, npt.NDArray[Any]],
    weights: Mapping[str, Fraction],
    order: tuple[str, ...],
) -> Scheme:
    """Return one scheme with the choices of all kinds."""
    names = tuple(weights)
    used = [parts[name].scheme for name in names]
    urgency = _classes(names, used, order)
    counts = [part.choice_count for part in used]
    kind = np.repeat(np.arange(len(names), dtype=np.int32), counts)
    rows = np.cumsum([0, *(p.row_count for p in used)])
    places = np.cumsum([0, *(p.children.size for p in used)])
    moved = list(zip(used, rows.tolist(), places.tolist(), strict=False))
    exact = _chances([parts[name] for name in names], tuple(weights.values()))
    probability = np.array([[float(c) for c in line] for line in exact])
    reached = np.repeat(np.stack([p.counted_receivers for p in used], axis=1), counts, axis=1)
    sent = [
        np.repeat(p.counted_receivers[:, None], p.choice_count, axis=1) if name == "broadcast" else _transmissions(p)
        for name, p in zip(names, used, strict=True)
    ]
    far = {"broadcast": np.array(distances(base)), **lengths} if "broadcast" in names else lengths
    return replace(
        base,
        name=f"{base.name} with {' and '.join(n for n in names if n != 'broadcast')}" if len(names) > 1 else names[0],
        step=np.concatenate([p.step for p in used]),
        child_first=np.concatenate([p.child_first + at for p, _, at in moved]),
        child_last=np.concatenate([p.child_last + at for p, _, at in moved]),
        children=np.concatenate([p.children + row for p, row, _ in moved]),
        priority=np.concatenate([p.priority + add for p, add in zip(used, urgency, strict=True)]),
        counted=np.concatenate([p.counted for p in used]),
        entry_first=np.concatenate([p.entry_first + at for p, _, at in moved], axis=1),
        entry_last=np.concatenate([p.entry_last + at for p, _, at in moved], axis=1),
        probability=probability,
        receivers=np.maximum(np.rint((reached * probability).sum(axis=1)), 1).astype(np.int64),
        dimension=None,
        exact_probability=exact,
        traffic=RequestKinds(
            names=names,
            share=tuple(
                float(sum(c for line in exact for c, of in zip(line, kind, strict=True) if of == k) / len(exact))
                for k in range(len(names))
            ),
            kind=kind,
            reached=np.ascontiguousarray(reached),
            needed=(np.concatenate(sent, axis=1) * probability).sum(axis=1),
            distance=tuple((float(far[name][0]), float(far[name][1])) for name in names),
        ),
    )


def _chances(parts: Sequence[_KindTables], weights: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], ...]:
    """Return the chance of each choice of each source; a source that does not send a kind sends more of the others."""
    lines = []
    for table in range(len(parts[0].chances)):
        line = [w * c for part, w in zip(parts, weights, strict=True) for c in part.chances[table]]
        whole_line = sum(line)
        if not whole_line:
            raise ModelError("some node would send nothing; restrict the sources to those that do")
        lines.append(tuple(line) if whole_line == 1 else tuple(c / whole_line for c in line))
    return tuple(lines)


def _classes(names: tuple[str, ...], used: Sequence[Scheme], order: tuple[str, ...]) -> list[int]:
    """Return what is added to the classes of each kind so that the kinds of `order` go before those not in it."""
    add, first = dict.fromkeys(names, 0), 0
    for name in order:
        add[name] = first
        first += used[names.index(name)].class_count
    for name in names:
        if name not in order:
            add[name] = first
    return [add[name] for name in names]


def _transmissions(part: Scheme) -> npt.NDArray[np.int64]:
    """Return the transmissions of each choice of each source, int64[S, C]."""
    from gossamer.simulation.random_arrivals.queueing_state import SchemeTables

    return SchemeTables.of(part).total


# The traffic beside broadcasts, as a command or a study names it.


@dataclass(frozen=True)
class Mix:
    """What requests there are, and which of them are urgent; see `gossamer.simulation.random_arrivals.schemes`.

    Attributes
    ----------
    traffic : str
        What is requested, in shares of the requests: broadcast:1,unicast:9,multicast:2. Default broadcast:1.
    unicasts_to : str
        Where unicasts go: to any other node, or by a pattern such as transpose. Default any.
    set_size : int
        Nodes to which a multicast goes.
    order : str
        Kinds of traffic from the most urgent on, such as unicast,broadcast; by default none goes before another.
    ways : int
        Shortest paths for each pair of nodes, among which a unicast draws.
    seed : int
        Of the paths, the sets and a random pattern.

    Raises
    ------
    ModelError
        If a value is illegal.

    Examples
    --------
    >>> Mix("broadcast:1,unicast:3").shares
    {'broadcast': 1.0, 'unicast': 3.0}
    >>> Mix("brodcast:1")
    Traceback (most recent call last):
    gossamer.errors.ModelError: traffic 'brodcast:1': no kind is called 'brodcast' (did you mean 'broadcast'?); there \
is broadcast, unicast, multicast
    """

    traffic: str = "broadcast:1"
    unicasts_to: str = "any"
    set_size: int = 4
    order: str = ""
    ways: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.set_size, "set_size", 1)
        whole(self.ways, "ways", 1, 1000)
        read_seed(self.seed)
        shares = self.shares
        for name in self.kinds_in_order:
            if not shares.get(name):
                raise ModelError(f"order {self.order!r}: the traffic {self.traffic!r} has no {name}")
        if self.unicasts_to != "any" and not shares.get("unicast"):
            raise ModelError(f"the traffic {self.traffic!r} has no unicasts that could go by {self.unicasts_to!r}")

    @property
    def shares(self) -> dict[str, float]:
        """Share of each kind."""
        found: dict[str, float] = {}
        for word in self.traffic.split(","):
            name, _, share = (part.strip() for part in word.partition(":"))
            self._known(name, f"traffic {self.traffic!r}")
            if name in found:
                raise ModelError(f"traffic {self.traffic!r}: {name} is there twice")
            try:
                found[name] = number(float(share or "1"), f"the share of {name}", 0, 10**9)
            except ValueError:
                raise ModelError(
                    f"traffic {self.traffic!r}: the share of {name} must be a number, got {share!r}"
                ) from None
        if not any(found.values()):
            raise ModelError(f"traffic {self.traffic!r}: some share must be above 0")
        return found

    @property
    def kinds_in_order(self) -> tuple[str, ...]:
        """The kinds that go before others."""
        names = tuple(name.strip() for name in self.order.split(",") if name.strip())
        for name in names:
            self._known(name, f"order {self.order!r}")
        if len(set(names)) < len(names):
            raise ModelError(f"order {self.order!r}: a kind is there twice")
        return names

    @staticmethod
    def _known(name: str, where: str) -> None:
        if name not in KINDS:
            hint = nearest(name, KINDS)
            raise ModelError(f"{where}: no kind is called {name!r}{hint}; there is {', '.join(KINDS)}")

    def of(self, scheme: Scheme) -> Scheme:
        """Return the scheme with this traffic; one of broadcasts alone stays as it is."""
        from gossamer.questions.tasks.patterns import pattern

        shares = {name: share for name, share in self.shares.items() if share}
        if set(shares) == {"broadcast"}:
            return scheme
        destination = None
        if self.unicasts_to != "any":
            destination = pattern(self.unicasts_to, scheme.network, seed=self.seed)
            own = [v for v in scheme.source_nodes.tolist() if destination[v] not in (-1, v)]
            if own and set(shares) == {"unicast"}:  # the others send nothing at all
                scheme = scheme.restricted(own)
        return mixed(
            scheme, shares, destination=destination, size=self.set_size, order=self.kinds_in_order, ways=self.ways,
            seed=self.seed,
        )  # fmt: skip
