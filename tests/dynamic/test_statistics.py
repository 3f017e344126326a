"""Confidence intervals, the end of a warm-up, growth, histograms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from gossamer.simulation.random_arrivals.statistics import (
    ConfidenceInterval,
    Histogram,
    batch_means,
    grows,
    over_replications,
    warmup_end,
)


def test_interval_is_the_t_interval_of_the_batches():
    values = np.random.default_rng(1).normal(5, 2, 20)
    found = batch_means(values, np.ones(20))
    low, high = scipy.stats.t.interval(0.95, 19, values.mean(), scipy.stats.sem(values))
    assert found.mean == pytest.approx(values.mean())
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx((low, high))


def test_interval_covers_the_mean_of_independent_values_about_19_times_in_20():
    random = np.random.default_rng(2)
    hits = sum(batch_means(random.exponential(3, 400), np.ones(400)).covers(3.0) for _ in range(400))
    assert 365 <= hits <= 392


def test_correlated_batches_are_joined():
    walk = np.repeat([0.0, 1.0, 0.0, 2.0, 1.0], 4)
    assert batch_means(walk, np.ones(20)).samples == 10


def test_mean_is_weighted_by_the_observations():
    assert batch_means([2.0, 30.0], [1, 3]).mean == 8.0


def test_no_observations_give_no_estimate():
    assert math.isnan(batch_means([0.0], [0]).mean)
    assert str(batch_means([0.0], [0])) == "-"


def test_one_batch_has_no_finite_interval():
    assert batch_means([3.0], [1]).half_width == math.inf


def test_replications_count_as_independent_samples():
    joined = over_replications([ConfidenceInterval(1.0, 9.0), ConfidenceInterval(3.0, 9.0)])
    assert joined.mean == 2.0
    assert joined.half_width == pytest.approx(scipy.stats.t.ppf(0.975, 1) * math.sqrt(2) / math.sqrt(2))


def test_warm_up_is_cut_where_a_ramp_ends():
    ramp = np.concatenate([np.linspace(0, 10, 50), 10 + np.random.default_rng(3).normal(0, 0.5, 250)])
    assert 30 <= warmup_end(ramp) <= 60


def test_a_series_that_still_rises_has_not_settled():
    assert warmup_end(np.arange(200.0)) == 200


def test_a_constant_series_has_no_warm_up():
    assert warmup_end(np.ones(100)) == 0


def test_linear_growth_is_growth_and_noise_is_not():
    random = np.random.default_rng(4)
    assert grows(np.arange(200) * 5 + random.normal(0, 20, 200), 20_000)
    assert not grows(100 + random.normal(0, 20, 200), 20_000)


def test_growth_of_a_small_part_of_what_was_served_is_none():
    assert not grows(np.arange(200.0), 1e6)


def test_a_last_quarter_of_less_than_1_6_times_the_second_is_no_growth():
    assert not grows(np.repeat([100, 200, 250, 310], 50), 1000)
    assert grows(np.repeat([100, 200, 250, 330], 50), 1000)


def test_a_transient_that_levels_off_is_no_growth():
    assert not grows(1000 * (1 - np.exp(-np.arange(200) / 30)), 10_000)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=200), st.floats(0, 1))
def test_quantile_is_within_a_cell_of_the_sorted_delays(delays, q):
    width = 0.5
    count = np.bincount((np.array(delays) // width).astype(int))
    rank = min(int(q * len(delays)), len(delays) - 1)
    exact = sorted(delays)[rank]
    found = Histogram(width, count).quantile(q)
    lower = sorted(delays)[max(rank - 1, 0)]
    assert lower - width <= found <= exact + width


def test_joined_histograms_add_up_at_the_wider_cells():
    joined = Histogram.joined([Histogram(1.0, np.array([1, 2, 3])), Histogram(2.0, np.array([5]))])
    assert joined.width == 2.0
    assert joined.count.tolist() == [8, 3]
    assert joined.edges.tolist() == [0.0, 2.0, 4.0]


def test_an_empty_histogram_has_no_quantile():
    assert math.isnan(Histogram(1.0, np.zeros(0, np.int64)).quantile(0.5))
