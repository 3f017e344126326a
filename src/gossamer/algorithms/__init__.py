"""Algorithms for store-and-forward switching: builders of schedules, a folder a task.

An algorithm takes a case (`gossamer.questions.cases`) and gives offers, which say before anything is built how long the
schedule will take, or a refusal. `any_network` covers every network; `derived` reverses, composes and folds other
algorithms, and carries them out in groups of nodes. A new one is a file and a line in `registry`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.registry import algorithms_for
from gossamer.lazy_imports import lazy

if TYPE_CHECKING:
    from gossamer.algorithms.registry import ALGORITHMS

__all__ = ["ALGORITHMS", "Algorithm", "algorithms_for"]

__getattr__ = lazy(__name__, registry="ALGORITHMS")
