"""Every example in a docstring does what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gossamer

MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(gossamer.__path__, "gossamer.")
    if not m.name.endswith(("__main__", "_kernels"))
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
