"""Allreduce algorithms as their papers have them, as rounds of transfers, and MSCCL XML that carries rounds out.

A transfer (u, v, chunks, adds) says that u sends its sums of some chunks to v, which adds them to its own or takes them
instead. What is sent in a round is what was there before it.
"""

from __future__ import annotations

from itertools import pairwise


def among_power_of_two(n, rounds_of, chunks):
    """Let the first ranks add their sums to their neighbors', run rounds among a power of two, give the results back.

    `rounds_of` takes the number of ranks and gives rounds among these; see Rabenseifner, 2004.
    """
    p = 1 << (n.bit_length() - 1)
    extra = n - p
    ranks = [2 * i + 1 for i in range(extra)] + list(range(2 * extra, n))
    within = [[(ranks[u], ranks[v], c, adds) for u, v, c, adds in round_] for round_ in rounds_of(p)]
    before = [[(2 * i, 2 * i + 1, chunks, True) for i in range(extra)]] if extra else []
    after = [[(2 * i + 1, 2 * i, chunks, False) for i in range(extra)]] if extra else []
    return before + within + after


def butterfly(n, partner, chunks):
    """Exchange whole sums with a partner in each round."""

    def rounds_of(p):
        steps = range(p.bit_length() - 1)
        return [[(v, partner(v, s, p), chunks, True) for v in range(p)] for s in steps]

    return among_power_of_two(n, rounds_of, chunks)


def recursive_doubling(n, chunks=1):
    """Thakur, Rabenseifner and Gropp, 2005: partners at distance 1, 2, 4, ..."""
    return butterfly(n, lambda v, s, p: v ^ 1 << s, list(range(chunks)))


def halving_doubling(n):
    """Rabenseifner, 2004: halves are added, quarters, ...; then they are gathered the same way back."""
    p = 1 << (n.bit_length() - 1)

    def rounds_of(p):
        down = []
        for distance in (p >> i for i in range(1, p.bit_length())):
            mine = {v: [c for c in range(p) if c // distance == (v ^ distance) // distance] for v in range(p)}
            down.append([(v, v ^ distance, mine[v], True) for v in range(p)])
        up = [[(v, u, c, False) for u, v, c, _ in round_] for round_ in reversed(down)]
        return down + up

    return among_power_of_two(n, rounds_of, list(range(p)))


def alternating(v, step, p):
    """Return rank v's partner at distance |1 - 2 + 4 - ...|, with `step` terms after the first."""
    distance = (1 - (-2) ** (step + 1)) // 3
    return (v + distance if v % 2 == 0 else v - distance) % p


def swing_of_whole_vectors(n, chunks=1):
    """De Sensi et al., 2024 (Swing), the latency-optimal form."""
    return butterfly(n, alternating, list(range(chunks)))


def spread(roots, steps, p):
    """Return for each step the (holder, partner, roots) in which what roots hold goes to partners without it."""
    holders = {root: {root} for root in roots}
    found = []
    for step in steps:
        sends: dict[tuple[int, int], list[int]] = {}
        for root in roots:
            for v in sorted(holders[root]):
                u = alternating(v, step, p)
                if u not in holders[root]:
                    sends.setdefault((v, u), []).append(root)
            holders[root] |= {u for (_, u), mine in sends.items() if root in mine}
        found.append([(v, u, mine) for (v, u), mine in sends.items()])
    assert all(len(held) == p for held in holders.values())
    return found


def swing(n):
    """De Sensi et al., 2024 (Swing), the bandwidth-optimal form for even numbers of ranks: a block for each rank."""
    gather = spread(range(n), reversed(range((n - 1).bit_length())), n)
    down = [[(u, v, mine, True) for v, u, mine in step] for step in reversed(gather)]
    return down + [[(v, u, mine, False) for v, u, mine in step] for step in gather]


def bine_tree(n):
    """De Sensi et al., 2025 (Bine trees): reduced to rank 0 and broadcast from there, distances halving."""
    steps = spread([0], reversed(range((n - 1).bit_length())), n)
    down = [[(u, v, mine, True) for v, u, mine in step] for step in reversed(steps)]
    return down + [[(v, u, mine, False) for v, u, mine in step] for step in steps]


def bine_butterfly(n, chunks=1):
    """De Sensi et al., 2025 (Bine butterflies): whole sums, distances halving."""
    return butterfly(n, lambda v, s, p: alternating(v, p.bit_length() - 2 - s, p), list(range(chunks)))


ALGORITHMS = {
    "recursive doubling": recursive_doubling,
    "recursive doubling in 3 chunks": lambda n: recursive_doubling(n, 3),
    "halving-doubling": halving_doubling,
    "Swing of whole vectors": swing_of_whole_vectors,
    "Swing": swing,
    "Bine tree": bine_tree,
    "Bine butterfly": bine_butterfly,
}


def runs(chunks):
    """Return (first, count) of runs of consecutive chunks."""
    chunks = sorted(chunks)
    starts = [0] + [i + 1 for i, (a, b) in enumerate(pairwise(chunks)) if b != a + 1]
    return [(chunks[a], b - a) for a, b in zip(starts, [*starts[1:], len(chunks)], strict=True)]


class Rank:
    """The threadblocks of a rank, one for each peer and one for local steps; every step waits for the last one."""

    def __init__(self):
        self.blocks: dict[int, list[dict[str, object]]] = {}
        self.last = None

    def step(self, peer, kind, source, target, count):
        steps = self.blocks.setdefault(peer, [])
        number = list(self.blocks).index(peer)
        waits = self.last if self.last is not None and self.last[0] != number else (-1, -1)
        if waits[0] >= 0:
            list(self.blocks.values())[waits[0]][waits[1]]["hasdep"] = 1
        (srcbuf, srcoff), (dstbuf, dstoff) = source, target
        steps.append(
            {"s": len(steps), "type": kind, "srcbuf": srcbuf, "srcoff": srcoff, "dstbuf": dstbuf, "dstoff": dstoff,
             "cnt": count, "depid": waits[0], "deps": waits[1], "hasdep": 0}
        )  # fmt: skip
        self.last = number, len(steps) - 1

    def text(self):
        for number, (peer, steps) in enumerate(self.blocks.items()):
            yield f'<tb id="{number}" send="{peer}" recv="{peer}" chan="0">'
            for step in steps:
                yield "<step " + " ".join(f'{name}="{value}"' for name, value in step.items()) + "/>"
            yield "</tb>"


def msccl_xml(rounds, n, *, in_place=False, scratch=False, coll="allreduce"):
    """Return MSCCL XML of rounds; with `scratch`, sums come to scratch and are added from there by local steps."""
    chunks = 1 + max(c for round_ in rounds for _, _, mine, _ in round_ for c in mine)
    ranks = [Rank() for _ in range(n)]
    place = "i" if in_place else "o"
    for rank in ranks:
        if not in_place:
            rank.step(-1, "cpy", ("i", 0), ("o", 0), chunks)
    for round_ in rounds:
        for u, v, mine, _ in round_:
            for first, count in runs(mine):
                ranks[u].step(v, "s", (place, first), ("s" if scratch else place, first), count)
        for u, v, mine, adds in round_:
            for first, count in runs(mine):
                at = (place, first)
                if adds and scratch:
                    ranks[v].step(u, "r", at, ("s", first), count)
                    ranks[v].step(-1, "re", ("s", first), at, count)
                else:
                    ranks[v].step(u, "rrc" if adds else "r", at, at, count)
    head = (
        f'<algo name="by hand" proto="Simple" nchannels="1" nchunksperloop="{chunks}" ngpus="{n}" coll="{coll}" '
        f'inplace="{int(in_place)}" outofplace="{int(not in_place)}" minBytes="0" maxBytes="0">'
    )
    lines = [head]
    for v, rank in enumerate(ranks):
        given = f'i_chunks="{chunks}" o_chunks="{0 if in_place else chunks}" s_chunks="{chunks if scratch else 0}"'
        lines += [f'<gpu id="{v}" {given}>', *rank.text(), "</gpu>"]
    return "\n".join([*lines, "</algo>", ""])
