"""Estimates of delays: every queue as if its copies arrived as a Poisson stream.

They show where delays come from and how they grow. They are no bounds; simulated delays at high load are below most of
them, because copies that follow each other on a path are spread out already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.theory.loads import whole_chances
from gossamer.simulation.random_arrivals.theory.prepared import Prepared

__all__ = ["DelayEstimate", "class_loads", "delay_estimate"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DelayEstimate:
    """Estimated mean delays of a scheme.

    Attributes
    ----------
    reception, broadcast : float
        Mean reception delay; mean over sources and choices of the longest estimated delay of a receiver, in steps. nan
        where none is known to be near: of messages in parts, and the broadcast delay with several classes.
    wait : tuple of float
        Mean wait of a copy of each priority class, in steps.
    """

    reception: float
    broadcast: float
    wait: tuple[float, ...]


def class_loads(scheme: Scheme | Prepared, load: float) -> Floats:
    """Return the utilization of links by each priority class.

    Parameters
    ----------
    scheme : Scheme or Prepared
        All its sources generate at one rate; prepared if it is asked at several loads.
    load : float
        Load factor.

    Returns
    -------
    float64[columns, classes]
        Of each column of the link table of a translated scheme (all nodes' links of one column are alike), else of each
        link.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> class_loads(star(gossamer.network("hypercube:4")), 0.9)[0].round(2).tolist()
    [0.42, 0.48]
    """
    known = Prepared.of(scheme)
    scheme = known.scheme
    network, classes = scheme.network, scheme.class_count
    if scheme.translated:
        assert scheme.link_table is not None
        columns, per = scheme.link_table.shape[1], scheme.source_nodes.size / network.node_count
    else:
        columns, per = network.link_count, float(scheme.source_nodes.size)
    key = scheme.step.astype(np.int64) * classes + scheme.priority
    used = np.bincount(key, known.weights, minlength=columns * classes).reshape(columns, classes)
    return np.asarray(used * (scheme.rate(load) * per))


def delay_estimate(scheme: Scheme | Prepared, load: float) -> DelayEstimate:
    """Estimate the mean delays of a scheme: along each path, a step and the M/D/1 wait of its class for every hop.

    Parameters
    ----------
    scheme : Scheme or Prepared
        All its sources generate at one rate; prepared if it is asked at several loads.
    load : float
        Load factor below the scheme's limit.

    Returns
    -------
    DelayEstimate

    Raises
    ------
    ModelError
        If some link would be busy all the time.

    Notes
    -----
    One class: Dist (1 + W). Two classes on a hypercube: Dist + (Dist - m) W_H + m W_L with m = 2^(d-1)/(2^d - 1).
    Simulated reception is below by about 5 to 15% at load .9, with one class by 16 to 40%.

    Two things are not estimated. A message in parts is received with its last part, which comes later than the mean
    part by more than any path tells. And with several classes the last receipt of a broadcast is the latest of many
    copies that each waited in the lowest class: the longest mean path is some 30% below it at load .9.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 2.2.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.schemes import star
    >>> round(delay_estimate(star(gossamer.network("hypercube:4")), 0.9).reception, 1)
    7.5
    """
    known = Prepared.of(scheme)
    scheme, loads = known.scheme, class_loads(known, load)
    total = loads.sum(axis=1)
    if total.max() >= 1:
        raise ModelError(f"load {load:.6g} is at or above the stability limit of scheme {scheme.name!r}")
    after = np.cumsum(loads, axis=1)
    before = after - loads
    waits = total[:, None] / (2 * (1 - before) * (1 - after))
    weight = known.weights
    hop = (1 + waits[scheme.step, scheme.priority]) / scheme.parts
    counted, following, longest = _below(scheme, hop)
    whole, alike = scheme.parts == 1, np.count_nonzero(loads.sum(axis=0)) == 1
    reception = float((weight * following * hop).sum() / (weight * counted).sum()) if whole else float("nan")
    broadcast = _deepest(scheme, longest) if whole and alike else float("nan")
    by_class = np.bincount(scheme.priority, weight * waits[scheme.step, scheme.priority], minlength=scheme.class_count)
    copies = np.bincount(scheme.priority, weight, minlength=scheme.class_count)
    mean = np.divide(by_class, copies, out=np.zeros(copies.size), where=copies > 0) / scheme.parts
    return DelayEstimate(reception, broadcast, tuple(float(w) for w in mean))


def _deepest(scheme: Scheme, longest: Floats) -> float:
    """Return the mean over sources and choices of the longest way from an entry row to a counted receipt."""
    chances, denominator = whole_chances(scheme)
    deepest = np.zeros(scheme.entry_first.shape)
    for place in np.ndindex(deepest.shape):
        rows = scheme.children[scheme.entry_first[place] : scheme.entry_last[place]]
        deepest[place] = longest[rows].max(initial=0)
    return float((deepest.max(axis=2) * (np.array(chances, float) / denominator)).sum(axis=1).mean())


def _below(scheme: Scheme, hop: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, of each row: whether it counts, counted receipts by it and after it, and the longest way to one."""
    count = scheme.child_last - scheme.child_first
    parent = np.repeat(np.arange(scheme.row_count), count)
    ends = np.cumsum(count)
    child = scheme.children[np.repeat(scheme.child_first - ends + count, count) + np.arange(parent.size)]
    counted = scheme.counted.astype(np.float64)
    size, longest = counted.copy(), np.where(scheme.counted, hop, 0.0)
    while True:
        new: Any = counted + np.bincount(parent, size[child], minlength=scheme.row_count)
        far = np.where(scheme.counted, hop, 0.0)
        reach = longest[child] > 0
        np.maximum.at(far, parent[reach], longest[child][reach] + hop[parent[reach]])
        if np.array_equal(new, size) and np.array_equal(far, longest):
            return counted, size, longest
        size, longest = new, far
