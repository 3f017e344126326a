"""Targets of the three mappings and of their extensions, and how long one move step takes and how full cells get.

`moved` is a slow twin of the move engine: every directed link carries one message a step, the one that has farthest to
go, or, as the thesis prints it for some mappings, one that moves straight on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest

from gossamer.algorithms.routing.move_and_smooth.mappings import (
    MAPPINGS,
    first_mapping,
    multiplicity,
    second_mapping,
    third_mapping,
    variant_a,
    variant_c,
)
from gossamer.algorithms.routing.move_and_smooth.regions import Mapping, RegionCells, Routes, halves
from gossamer.errors import NotApplicableError

DIRECTION = {(0, 1): (1, 0), (0, -1): (-1, 0), (1, 1): (0, 1), (1, -1): (0, -1)}
ONE_STEP_PARTS = list(product((False, True), repeat=2))


def cells(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    i, j = np.indices((rows, columns))
    return i.reshape(-1), j.reshape(-1)


def moved(start: list[tuple[int, int]], routes: Routes, straight_first: bool = False) -> tuple[int, int, Counter]:
    """Return the steps, the most messages that any cell holds at a time, and how many each holds at the end."""
    at = list(start)
    waits = [[(int(a), 1 if h > 0 else -1, 0) for a, h in zip(axis, hops, strict=True) for _ in range(abs(h))]
             for axis, hops in zip(routes.axis, routes.hops, strict=True)]  # fmt: skip
    for m, gate in enumerate(routes.not_before[:, 2]):
        if gate:
            waits[m][-1] = (*waits[m][-1][:2], int(gate))
    went: list[tuple[int, int] | None] = [None] * len(at)
    step, fullest = 0, max(Counter(at).values())
    while any(waits):
        step += 1
        wanted = defaultdict(list)
        for m, path in enumerate(waits):
            if path and path[0][2] <= step:
                wanted[at[m], path[0][:2]].append(m)
        sent = [
            min(rivals, key=lambda m, way=way: (straight_first and went[m] != way, -len(waits[m]), m))
            for (_, way), rivals in wanted.items()
        ]
        went = [None] * len(at)
        for m in sent:
            way = waits[m].pop(0)[:2]
            down, right = DIRECTION[way]
            at[m], went[m] = (at[m][0] + down, at[m][1] + right), way
        fullest = max(fullest, *Counter(at).values())
    assert at == list(zip(routes.row.tolist(), routes.column.tolist(), strict=True))
    return step, fullest, Counter(at)


def to_quadrant_four(mapping: Mapping, sources: list[tuple[int, int]], n: int, **how: bool) -> tuple[int, int, Counter]:
    i, j = np.array(sources).T
    return moved(sources, mapping(RegionCells.of((n, n), (i, j), (True, True))), **how)


def crowded(mapping: Mapping, rows: int, columns: int, draw: np.random.Generator, **how: bool) -> tuple[int, int, int]:
    """Move messages of random cells to random parts, each part getting no more than it has cells, one part first."""
    sizes = dict(zip(ONE_STEP_PARTS, product(halves(rows), halves(columns)), strict=True))
    i, j = cells(rows, columns)
    order = draw.permutation(i.size)
    first = draw.integers(4) if draw.random() < 0.7 else 3
    parts = np.empty(i.size, np.int64)
    left = [a * b for a, b in sizes.values()]
    near = draw.random() < 0.5
    if near:  # prefer the cells that share a target with others
        load = multiplicity(mapping, rows, columns).reshape(-1)
        routes = mapping(RegionCells.of((rows, columns), (i, j), ONE_STEP_PARTS[first]))
        order = np.argsort(-load[routes.row * columns + routes.column] + draw.random(i.size) / 2)
    for cell in order:
        choice = first if left[first] else int(draw.choice(np.flatnonzero(left)))
        parts[cell], left[choice] = choice, left[choice] - 1
    down, right = (np.array(ONE_STEP_PARTS)[parts, axis] for axis in (0, 1))
    steps, fullest, final = moved(list(zip(i.tolist(), j.tolist(), strict=True)),
                                  mapping(RegionCells.of((rows, columns), (i, j), (down, right))), **how)  # fmt: skip
    return steps, fullest, max(final.values())


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
@pytest.mark.parametrize("side", [7, 9, 11, 13])
def test_every_target_lies_in_its_part_and_the_route_leads_there(mapping: Mapping, side: int) -> None:
    i, j = cells(side, side)
    large = halves(side)[0]
    for down, right in ONE_STEP_PARTS:
        routes = mapping(RegionCells.of((side, side), (i, j), (down, right)))
        assert ((routes.row >= large) == down).all()
        assert ((routes.column >= large) == right).all()
        assert (routes.row < side).all()
        assert (routes.column < side).all()
        along = [(routes.hops * (routes.axis == axis)).sum(axis=1) for axis in (0, 1)]
        assert (i + along[0] == routes.row).all()
        assert (j + along[1] == routes.column).all()
        here = ((i >= large) == down) & ((j >= large) == right)
        assert not routes.hops[here].any()


@pytest.mark.parametrize("mapping", [variant_a, variant_c], ids="AC")
def test_variants_cover_every_shape_and_regions_of_different_shapes_at_once(mapping: Mapping) -> None:
    shapes = [np.broadcast_arrays(r, c, *cells(r, c)) for r in range(1, 7) for c in range(1, 7)]
    r, c, i, j = (np.concatenate(column) for column in zip(*shapes, strict=True))
    for down, right in ONE_STEP_PARTS:
        may = ((r > 1) | ~np.array(down)) & ((c > 1) | ~np.array(right))
        at_once = mapping(RegionCells.of((r[may], c[may]), (i[may], j[may]), (down, right)))
        one_by_one = [
            mapping(RegionCells.of((a, b), (k, m), (down, right)))
            for a, b, k, m in zip(r[may], c[may], i[may], j[may], strict=True)
        ]
        assert at_once.row.tolist() == [int(x.row[0]) for x in one_by_one]
        assert at_once.column.tolist() == [int(x.column[0]) for x in one_by_one]
        large_r, large_c = r[may] - r[may] // 2, c[may] - c[may] // 2
        assert ((at_once.row >= large_r) == down).all()
        assert ((at_once.column >= large_c) == right).all()
        assert ((at_once.row < r[may]) & (at_once.column < c[may])).all()


@pytest.mark.parametrize("mapping", [variant_a, variant_c], ids="AC")
def test_wide_regions_are_transposed(mapping: Mapping) -> None:
    for r, c in ((5, 3), (9, 7), (4, 3), (5, 2)):
        i, j = cells(r, c)
        for down, right in ONE_STEP_PARTS:
            tall, wide = (
                mapping(RegionCells.of((r, c), (i, j), (down, right))),
                mapping(RegionCells.of((c, r), (j, i), (right, down))),
            )
            assert (tall.row == wide.column).all()
            assert (tall.column == wide.row).all()
            assert (tall.axis != wide.axis).all()
            assert (tall.hops == wide.hops).all()


@pytest.mark.parametrize("s", [*range(1, 9), 15])
def test_first_mapping_goes_s_steps_along_each_axis_and_s_plus_1_from_the_top_row_and_left_column(s: int) -> None:
    n = 2 * s + 1
    i, j = cells(n, n)
    for down, right in ONE_STEP_PARTS:
        routes = first_mapping(RegionCells.of((n, n), (i, j), (down, right)))
        south = np.where(i == 0, s + 1, s) if down else np.full(i.size, -s)
        east = np.where(j == 0, s + 1, s) if right else np.full(i.size, -s)
        assert (routes.row == np.where((i > s) == down, i, i + south)).all()
        assert (routes.column == np.where((j > s) == right, j, j + east)).all()
        row_first = (routes.hops[:, 1] != 0) & (routes.hops[:, 2] != 0)
        assert (row_first == ((i == 0) & ((j > s) != right) & down)).all()
        assert not (row_first & (routes.hops[:, 0] != 0)).any()


@pytest.mark.parametrize("s", [*range(1, 9), 15])
def test_first_mapping_gives_nine_cells_the_corner_of_quadrant_four(s: int) -> None:
    load = multiplicity(first_mapping, 2 * s + 1, 2 * s + 1)
    four, one, three = load[s + 1 :, s + 1 :], load[: s + 1, s + 1 :], load[s + 1 :, : s + 1]
    assert four[0, 0] == 9
    assert (four[0, 1:] == 6).all()
    assert (four[1:, 0] == 6).all()
    assert (four[1:, 1:] == 4).all()
    assert (one[1:, 0] == 6).all()
    assert (three[0, 1:] == 6).all()
    assert (one[1:, 1:] <= 4).all()
    assert (three[1:, 1:] <= 4).all()
    assert load[: s + 1, : s + 1].max() <= 4


@pytest.mark.parametrize("s", [3, 4, 5, 6, 7, 8, 15])
def test_second_mapping_gives_six_cells_the_last_cell_of_quadrant_four_and_others_at_most_five(s: int) -> None:
    load = multiplicity(second_mapping, 2 * s + 1, 2 * s + 1)
    assert load[-1, -1] == 6
    load[-1, -1] = 0
    if s == 3:  # column s-3 is the first one of quadrant IV, which has two more sources already
        assert (load[s + 1 :, s + 1] == 6).all()
        load[s + 1 :, s + 1] = 0
    assert load.max() == 5


@pytest.mark.parametrize("s", [3, 4, 5, 6, 7, 8, 15])
def test_third_mapping_gives_at_most_five_cells_a_target_only_from_side_11_on(s: int) -> None:
    load = multiplicity(third_mapping, 2 * s + 1, 2 * s + 1)
    assert load.max() == {3: 8, 4: 6}.get(s, 5)
    if s == 3:
        assert load[s + 1 + 1, s + 1 + 1] == 8
    if s == 4:
        assert load[s + 1 + 2, s + 1 + 1] == 6


@pytest.mark.parametrize("side", [3, 5])
@pytest.mark.parametrize("name", ["2", "3"])
def test_second_and_third_mapping_have_no_targets_for_sides_3_and_5(name: str, side: int) -> None:
    with pytest.raises(NotApplicableError, match=f"squares with an odd side of at least 7, not {side}x{side}"):
        multiplicity(MAPPINGS[name], side, side)


@pytest.mark.parametrize("name", ["1", "2", "3"])
@pytest.mark.parametrize("shape", [(8, 8), (9, 7)])
def test_the_mappings_of_the_thesis_are_for_odd_squares_only(name: str, shape: tuple[int, int]) -> None:
    with pytest.raises(NotApplicableError, match=f"not {shape[0]}x{shape[1]}"):
        MAPPINGS[name](RegionCells.of(shape, (0, 0), (True, True)))


def test_any_fixed_map_of_a_9_by_9_square_gives_six_cells_one_target_so_five_buffers_need_side_11() -> None:
    # pigeonhole: n^2 cells, each with a target among the s^2 cells of quadrant IV
    assert [-(-(n**2) // (n // 2) ** 2) for n in (3, 5, 7, 9, 11, 13)] == [9, 7, 6, 6, 5, 5]


def test_variant_c_gives_at_most_five_cells_a_target_on_large_regions() -> None:
    for r, c in ((11, 11), (12, 11), (13, 11), (13, 12), (12, 12), (21, 15)):
        assert multiplicity(variant_c, r, c).max() == (4 if r % 2 == c % 2 == 0 else 5)
    assert multiplicity(variant_c, 7, 7).max() == multiplicity(variant_c, 9, 9).max() == 7


def test_variant_a_gives_at_most_four_six_or_nine_cells_a_target() -> None:
    for r in range(3, 15):
        for c in range(3, 15):
            assert multiplicity(variant_a, r, c).max() == (4, 6, 9)[r % 2 + c % 2]


@pytest.mark.parametrize("s", [1, 2, 3, 4, 5, 7])
def test_first_mapping_moves_in_n_plus_1_steps_with_9_buffers_farthest_first(s: int) -> None:
    n = 2 * s + 1
    draw = np.random.default_rng(s)
    results = np.array([crowded(first_mapping, n, n, draw) for _ in range(40)])
    assert results[:, 0].max() <= n + 1
    assert results[:, 1].max() <= 9


def test_erratum_7_first_mapping_takes_more_than_n_plus_1_steps_if_straight_messages_go_first() -> None:
    sources = [(2, 0), (4, 0), (4, 1), (4, 2)]
    routes = first_mapping(RegionCells.of((5, 5), tuple(np.array(sources).T), (False, True)))
    assert moved(sources, routes, straight_first=True)[0] == 7  # 3s + 1
    assert moved(sources, routes)[0] == 6  # n + 1


def test_erratum_8_second_mapping_takes_n_plus_3_steps_from_side_9_on() -> None:
    sources = [*((8, j) for j in range(5)), *((3, j) for j in range(5)), (4, 3), (4, 4)]
    steps, fullest, _ = to_quadrant_four(second_mapping, sources, 9)
    assert steps == 12  # n + 2 = 11 as printed
    assert fullest <= 6
    over_one_link = second_mapping(RegionCells.of((9, 9), tuple(np.array(sources).T), (True, True)))
    assert (over_one_link.row == 8).all()


def test_erratum_8_second_mapping_leaves_six_messages_in_one_cell() -> None:
    i, j = cells(9, 9)
    routes = second_mapping(RegionCells.of((9, 9), (i, j), (True, True)))
    to_last = [(a, b) for a, b, row, column in zip(i, j, routes.row, routes.column, strict=True) if row == column == 8]
    assert sorted(to_last) == [(3, 3), (3, 8), (4, 4), (8, 3), (8, 4), (8, 8)]
    steps, fullest, final = to_quadrant_four(second_mapping, to_last, 9)
    assert final[8, 8] == fullest == 6
    assert steps <= 11


@pytest.mark.parametrize("s", [3, 4, 5, 7])
def test_second_mapping_moves_in_n_plus_3_steps_with_6_buffers(s: int) -> None:
    n = 2 * s + 1
    draw = np.random.default_rng(s)
    results = np.array([crowded(second_mapping, n, n, draw) for _ in range(40)])
    assert results[:, 0].max() <= n + (3 if s > 3 else 2)
    assert results[:, 1].max() <= 6


@pytest.mark.parametrize("s", [5, 6, 8])
def test_third_mapping_moves_in_n_plus_2_steps_with_5_buffers_from_side_11_on(s: int) -> None:
    n = 2 * s + 1
    draw = np.random.default_rng(s)
    results = np.array([crowded(third_mapping, n, n, draw) for _ in range(25)])
    assert results[:, 0].max() <= n + 2
    assert results[:, 1].max() <= 5


@pytest.mark.parametrize(("n", "messages"), [(7, 8), (9, 6)])
def test_erratum_9_third_mapping_leaves_more_than_five_messages_in_one_cell_of_a_7x7_or_9x9(
    n: int, messages: int
) -> None:
    i, j = cells(n, n)
    routes = third_mapping(RegionCells.of((n, n), (i, j), (True, True)))
    target, count = Counter(zip(routes.row.tolist(), routes.column.tolist(), strict=True)).most_common(1)[0]
    assert count == messages <= (n // 2) ** 2  # quadrant IV may get as many
    sources = [(a, b) for a, b, *t in zip(i, j, routes.row, routes.column, strict=True) if tuple(t) == target]
    _, fullest, final = to_quadrant_four(third_mapping, sources, n)
    assert final[target] == fullest == messages


def latest(mapping: Mapping, r: int, c: int) -> int:
    """Return a bound on the move step: the last finish if every cell sends a message to every part.

    First legs never wait: they begin in different cells at once. On a row, messages of one direction that go at least
    to a link are held up there by each other only, since the farthest goes first; they leave a line of links one a
    step, so the last of m messages that would cross the link at times a_1 <= ... <= a_m leaves it by
    max (a_q + m - q). Messages of the top row that turn come into each column at different times (asserted).
    """
    i, j = cells(r, c)
    row, last, finish = defaultdict(list), defaultdict(list), [0]
    turns: Counter[tuple[int, int]] = Counter()
    for down, right in ONE_STEP_PARTS:
        routes = mapping(RegionCells.of((r, c), (i, j), (down, right)))
        for a, b, (v1, h, v2), gate in zip(i, j, routes.hops.tolist(), routes.not_before[:, 2].tolist(), strict=True):
            sign = 1 if h > 0 else -1
            finish.append(abs(v1) + abs(h) + abs(v2))
            end = (a + v1, b + h)
            if h:
                # where it begins in the direction of travel, when, where it ends, what is left then
                row[a + v1, sign].append((b * sign, abs(v1), (b + h) * sign, abs(v2), gate, end))
                if v2 and not gate:
                    turns[b + h, abs(h)] += 1
            elif gate:
                last[end].append(max(abs(v1), gate - 1))
    assert max(turns.values(), default=1) == 1
    for rivals in row.values():
        for reach in {x[2] + x[3] for x in rivals}:
            farther = sorted(x[1] - x[0] for x in rivals if x[2] + x[3] >= reach)
            passed = reach + max(free + len(farther) - 1 - q for q, free in enumerate(farther))
            for _, _, to, left, gate, end in rivals:
                if to + left == reach:
                    finish.append(passed - left if gate else passed)
                    if gate:
                        last[end].append(max(passed - left, gate - 1))
    finish += [t + len(times) - q for times in last.values() for q, t in enumerate(sorted(times))]
    return max(finish)


@pytest.mark.parametrize("mapping", [variant_a, variant_c], ids="AC")
@pytest.mark.parametrize("r", range(2, 14))
def test_no_message_of_variants_a_and_c_comes_later_than_half_of_both_sides(mapping: Mapping, r: int) -> None:
    for c in range(2, r + 1):
        extra = r % 2 if mapping is variant_c else 0
        assert latest(mapping, r, c) == sum(halves(side)[0] for side in (r, c)) + extra


@pytest.mark.parametrize("mapping", [variant_a, variant_c], ids="AC")
@pytest.mark.parametrize("shape", [(4, 3), (5, 4), (7, 7), (7, 6), (9, 4), (6, 7), (5, 9), (12, 11), (11, 11)])
def test_variants_move_within_their_bound_and_their_buffers(mapping: Mapping, shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(shape[0])
    long, short = max(shape), min(shape)
    results = np.array([crowded(mapping, *shape, draw) for _ in range(12)])
    extra = long % 2 if mapping is variant_c else 0
    assert results[:, 0].max() <= halves(long)[0] + halves(short)[0] + extra
    odd = shape[0] % 2 + shape[1] % 2
    assert results[:, 1].max() <= ((5, 6, 9)[odd] if mapping is variant_a else 7 if shape in ((7, 7), (5, 9)) else 5)
