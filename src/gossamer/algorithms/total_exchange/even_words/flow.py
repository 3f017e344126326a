"""Words by an exact flow: a unit from the identity to every element, the largest load of a class of links least."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.groups import Elements
from gossamer.networks.network import IntArray

__all__ = ["exact_words"]

Letters = npt.NDArray[np.int8]


def exact_words(
    onward: IntArray, left: Elements, orbit: IntArray, seconds: float, seed: int
) -> tuple[Letters, Elements, Elements] | None:
    """Return words whose largest load is the least possible, their lengths and the loads; None if none was found.

    Parameters
    ----------
    onward : int32[N, degree]
        ``x*g`` for each element x and generator g.
    left : int64[R, N]
        ``r*x`` for each origin r.
    orbit : int32[N]
        Orbit of each node; the class of a link is the orbit of its source times the degree plus its generator.
    seconds : float
        Limit of the search, after which the best found is taken.
    seed : int
        For the order in which the flow is divided into words.

    Notes
    -----
    A mixed integer program: whole numbers of words on each link of the Cayley network for each origin, one more into
    every element than out of it, and the sum over each class at most T, which is minimized. The flow is divided into
    walks from the identity, and loops of walks are left out.
    """
    import scipy.sparse as sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    n, degree = onward.shape
    origins = len(left)
    per = n * degree
    count = origins * per
    link = np.arange(count)
    origin, x, g = link // per, link % per // degree, link % degree
    node = origin * n
    kind = orbit[left[origin, x]] * degree + g
    kinds = origins * degree
    balance: Any = sparse.csr_array(
        (
            np.repeat([1.0, -1.0], count),
            (np.concatenate([node + onward[x, g], node + x]), np.concatenate([link, link])),
        ),
        shape=(origins * n, count + 1),
    )
    wanted = np.ones(origins * n)
    wanted[::n] = 1 - n
    load: Any = sparse.csr_array(
        (
            np.concatenate([np.ones(count), -np.ones(kinds)]),
            (np.concatenate([kind, np.arange(kinds)]), np.concatenate([link, np.full(kinds, count)])),
        ),
        shape=(kinds, count + 1),
    )
    cost = np.zeros(count + 1)
    cost[-1] = 1.0
    found = milp(
        cost,
        constraints=[LinearConstraint(balance, wanted, wanted), LinearConstraint(load, -np.inf, 0)],
        integrality=np.ones(count + 1),
        bounds=Bounds(0, np.inf),
        options={"time_limit": seconds},
    )
    if found.x is None:
        return None
    flow = np.rint(found.x[:-1]).astype(np.int64).reshape(origins, n, degree)
    rng = np.random.default_rng(seed)
    walks = [word for r in range(origins) for word in _walks(flow[r], onward, rng)]
    length = np.array([len(word) for word in walks], np.int64)
    letters = np.zeros((origins * n, int(length.max(initial=1)) + 1), np.int8)
    loads = np.zeros(kinds, np.int64)
    for j, word in enumerate(walks):
        letters[j, : len(word)] = word
        at = 0
        for letter in word:
            loads[orbit[left[j // n, at]] * degree + letter] += 1
            at = int(onward[at, letter])
    return letters, length, loads


def _walks(flow: npt.NDArray[np.int64], onward: IntArray, rng: np.random.Generator) -> list[list[int]]:
    """Divide the flow of one origin into a walk to every element, loops left out."""
    n = len(flow)
    left = flow.copy()
    waiting = left.sum(axis=1)
    walks: list[list[int]] = [[] for _ in range(n)]
    served = np.zeros(n, bool)
    served[0] = True
    for _ in range(n - 1):
        at = 0
        word: list[int] = []
        seen = [0]
        while True:
            letter = int(rng.choice(np.flatnonzero(left[at])))
            left[at, letter] -= 1
            waiting[at] -= 1
            at = int(onward[at, letter])
            if at in seen:
                del word[seen.index(at) :], seen[seen.index(at) + 1 :]
            else:
                word.append(letter)
                seen.append(at)
            if not served[at] and rng.random() < 1 / (waiting[at] + 1):
                break
        served[at] = True
        walks[at] = word
    return walks
