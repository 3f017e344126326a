"""Delay against load: every scheme is named, every sign explained is there, and arrows stand above the curves."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.legend import Legend

from gossamer.plots.curves import delay_figure
from gossamer.simulation.random_arrivals.scheme_evaluation import NONE, Delays, LoadLimit
from gossamer.simulation.random_arrivals.statistics import NO_ESTIMATE, ConfidenceInterval
from plots.test_pictures import outside, overlaps


def point(name, load, mean, *, stable=True, limit=1.0, bound=1.0):
    fields = {f.name: NONE for f in dataclasses.fields(Delays)}
    estimate = ConfidenceInterval(mean, 0.1, 10) if stable else NO_ESTIMATE
    fields |= {"network": "ring:5", "scheme": name, "load": load, "limit": LoadLimit(limit, "saturated at"),
               "stable": stable, "reason": "", "reception": estimate, "broadcast": estimate, "reception_bound": bound,
               "broadcast_bound": bound, "result": None}  # fmt: skip
    return Delays(**fields)


def legend_names(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def words(figure):
    return " ".join(text.get_text() for text in figure.texts)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 9), st.floats(1.0, 300.0), st.floats(1.0, 1.5))
def test_every_scheme_is_named_once_and_looks_like_no_other(count, base, growth):
    names = [f"scheme-{k}" for k in range(count)]
    points = [point(n, x / 10, base * growth**x + k) for k, n in enumerate(names) for x in (1, 5, 9)]
    figure = delay_figure(points, "title")
    assert legend_names(figure) == names
    handles = [h for legend in figure.findobj(Legend) for h in legend.legend_handles]
    looks = {(h.get_color(), h.get_marker(), h.get_markerfacecolor()) for h in handles}
    assert len(looks) == count
    for panel in figure.axes:
        low, high = panel.get_ylim()
        shown = [t for t in panel.get_yticks() if low <= t <= high]
        assert len(shown) >= 3
        assert len({label.get_text() for label in panel.get_yticklabels()}) == len(panel.get_yticks())
    assert overlaps(figure) == []
    assert outside(figure) == []


def test_a_scheme_that_is_never_stable_is_named_and_its_loads_have_arrows_above_the_curves():
    points = [point("good", x, 5.0) for x in (0.2, 0.5)]
    points += [point("bad", x, 0, stable=False, limit=0.1) for x in (0.2, 0.5)]
    figure = delay_figure(points, "title")
    assert legend_names(figure) == ["good", "bad"]
    for panel in figure.axes:
        arrows = [line for line in panel.get_lines() if "arrow" in str(line.get_marker())]
        assert [line.get_xdata().tolist() for line in arrows] == [[0.2, 0.5]]
        top = panel.get_window_extent().y1
        assert (arrows[0].get_transform().transform([(0.2, 1)])[:, 1] > top).all()
    assert "arrows: unstable" in words(figure)


@pytest.mark.parametrize(("limit", "bound", "said", "unsaid"), [
    (1.0, 2.0, ["bars", "dashes"], ["dotted", "arrows"]), (0.6, NONE, ["dotted"], ["dashes", "arrows"]),
])  # fmt: skip
def test_the_note_explains_what_is_drawn_and_nothing_else(limit, bound, said, unsaid):
    figure = delay_figure([point("a", x, 4.0, limit=limit, bound=bound) for x in (0.2, 0.5)], "title")
    assert all(word in words(figure) for word in said)
    assert not any(word in words(figure) for word in unsaid)


@pytest.mark.parametrize("dressing", [{}, {"width": 8.0}, {"style": "paper"}, {"width": 3.0, "title": "A long " * 9}])
def test_the_key_covers_no_curves(dressing):
    names = ["fifo", "stamoulis-tsitsiklis-indirect", "varvarigos-banerjee-direct"]
    points = [point(n, x / 10, 5.0 * 1.2**x + k) for k, n in enumerate(names) for x in (1, 5, 9)]
    figure = delay_figure(points, "title", **dressing)
    figure.draw_without_rendering()
    (key,) = figure.legends
    box = key.get_window_extent()
    assert not any(box.overlaps(panel.get_tightbbox()) for panel in figure.axes)
    assert all(panel.get_window_extent().height > 0.7 * figure.dpi for panel in figure.axes)
