from __future__ import annotations

import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.schemes import arc, mini_packets, scheme, star, star_minis
from gossamer.simulation.random_arrivals.theory import (
    PreparedScheme,
    best_bound,
    class_loads,
    delay_bounds,
    delay_estimate,
    eccentricity_mean,
    head_of_line_waits,
    mean_distance,
    one_queue_wait,
)
from gossamer.simulation.random_arrivals.theory.loads import row_heights

# simulated reception and broadcast delay with optimal priority, by an independent simulator
SIMULATED = [
    ("hypercube:4", 0.5, 2.84, 5.59), ("hypercube:4", 0.9, 6.96, 19.13), ("hypercube:8", 0.1, 4.17, 8.27),
    ("hypercube:8", 0.9, 9.62, 30.55), ("torus:5x5", 0.9, 7.59, 25.67), ("torus:8x8", 0.5, 4.99, 10.68),
    ("torus:8x8", 0.9, 9.56, 42.41), ("torus:4x4x4", 0.9, 8.39, 26.50), ("star:4", 0.9, 7.90, 29.67),
    ("star:5", 0.9, 9.13, 43.78),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "load", "reception", "broadcast"), SIMULATED)
def test_no_bound_is_above_a_simulated_delay(spec, load, reception, broadcast):
    for bound in delay_bounds(scheme("optimal", gossamer.network(spec)), load):
        assert bound.reception <= reception
        assert bound.broadcast <= broadcast


@pytest.mark.parametrize("spec", ["hypercube:5", "torus:5x5", "torus:4x6", "star:4"])
@pytest.mark.parametrize("load", [0.2, 0.9])
def test_balanced_shortest_paths_are_bounded_by_distance_plus_an_m_d_1_wait(spec, load):
    table = scheme("priority", gossamer.network(spec))
    queued = next(b for b in delay_bounds(table, load) if b.name == "link queues")
    assert queued.reception == pytest.approx(mean_distance(table) + one_queue_wait(load))


@pytest.mark.parametrize(("spec", "mean"), [("hypercube:4", 32 / 15), ("torus:5x5", 2.5), ("torus:8x8", 4.0635)])
def test_reference_mean_distances(spec, mean):
    assert mean_distance(star(gossamer.network(spec))) == pytest.approx(mean, abs=1e-4)


def test_distances_of_inner_nodes_are_among_inner_nodes():
    table = arc(gossamer.network("array:4x4"))
    assert mean_distance(table) == pytest.approx(4 / 3)
    assert eccentricity_mean(table) == 2


def test_parts_that_share_no_link_have_a_bound_by_link_queues():
    bounds = {b.name: b for b in delay_bounds(mini_packets(gossamer.network("hypercube:4")), 0.5)}
    assert bounds["distance"].reception == pytest.approx(32 / 15 / 4)
    assert bounds["tree"].reception == pytest.approx(1.0, abs=0.005)  # simulated at load .01: 1.00 / 1.25
    assert bounds["tree"].broadcast == 1.25
    # simulated at load .5: 1.37 / 1.74
    assert max(b.reception for b in bounds.values()) < 1.37
    assert max(b.broadcast for b in bounds.values()) < 1.74
    assert "link queues" in bounds
    assert "link queues" not in {b.name for b in delay_bounds(star_minis(gossamer.network("hypercube:4")), 0.5)}


def test_choices_that_look_at_queues_have_the_other_bounds():
    table = star(gossamer.network("hypercube:4"))
    assert best_bound(table, 0.9, oblivious=False)[0] < best_bound(table, 0.9)[0]


def test_row_heights_are_what_walking_counts():
    table = arc(gossamer.network("array:5x5"))
    heights = row_heights(table)
    for choice in range(table.choice_count):
        counted = [
            d
            for d, (_, row, _) in enumerate(table.walk((0, choice, 0), table.source_nodes[:1]), 1)
            if table.counted[row].any()
        ]
        rows = table.children[table.entry_first[0, choice, 0] : table.entry_last[0, choice, 0]]
        assert max(heights[rows]) == max(counted)


@pytest.mark.parametrize("d", [4, 8])
def test_one_class_is_distance_times_step_and_wait_and_two_classes_split_it(d):
    network, load = gossamer.network(f"hypercube:{d}"), 0.9
    far, last = d * 2 ** (d - 1) / (2**d - 1), 2 ** (d - 1) / (2**d - 1)
    assert delay_estimate(scheme("fifo", network), load).reception == pytest.approx(far * (1 + one_queue_wait(load)))
    two = delay_estimate(scheme("priority", network), load)
    high, low = head_of_line_waits([load * (1 - last), load * last])
    assert two.reception == pytest.approx(far + (far - last) * high + last * low)
    assert two.wait == pytest.approx((high, low))
    assert round(two.reception, 1) == {4: 7.5, 8: 11.0}[d]


def test_direct_hypercube_broadcast_is_estimated_as_d_steps_and_waits():
    network = gossamer.network("hypercube:6")
    estimate = delay_estimate(scheme("stamoulis-tsitsiklis-direct", network), 0.8)
    assert estimate.broadcast == pytest.approx(6 * (1 + one_queue_wait(0.8)))


@pytest.mark.parametrize(
    ("name", "spec", "estimated"),
    [
        ("fifo", "hypercube:4", (True, True)),
        ("priority", "hypercube:4", (True, False)),  # 13.8 where 19.5 is simulated
        ("mini-packets", "star:4", (False, False)),  # the mean part is not the message
    ],
)
def test_what_is_known_to_be_far_off_is_not_estimated(name, spec, estimated):
    found = delay_estimate(scheme(name, gossamer.network(spec)), 0.5)
    assert tuple(not np.isnan(delay) for delay in (found.reception, found.broadcast)) == estimated


def test_what_was_computed_is_kept_in_the_record_alone():
    table = scheme("priority", gossamer.network("torus:4x4"))
    known = PreparedScheme(table)
    assert best_bound(known, 0.7) == best_bound(table, 0.7)
    assert delay_estimate(known, 0.7).reception == delay_estimate(table, 0.7).reception
    assert known.weights is known.weights
    assert PreparedScheme(table).weights is not known.weights


def test_class_loads_add_up_to_the_load():
    for name in ("fifo", "priority", "optimal"):
        used = class_loads(scheme(name, gossamer.network("torus:4x4x4")), 0.7)
        assert used.sum(axis=1) == pytest.approx(np.full(6, 0.7))


def test_loads_at_or_above_the_limit_are_refused():
    table = star(gossamer.network("torus:4x4"), coin=False)
    with pytest.raises(ModelError, match="at or above the stability limit"):
        delay_estimate(table, 0.75)
    with pytest.raises(ModelError, match="below 1"):
        delay_bounds(table, 1.0)
    assert "link queues" not in {b.name for b in delay_bounds(table, 0.8)}
