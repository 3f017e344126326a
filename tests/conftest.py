"""The rotating slice of slow tests, and the settings of the property tests."""

from __future__ import annotations

import datetime
import os
import zlib

import hypothesis

SLICES = 5

hypothesis.settings.register_profile("gossamer", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("gossamer")


def pytest_addoption(parser):
    parser.addoption(
        "--slow", choices=("all", "none", "slice"), default="slice",
        help=f"which of the tests marked slow to run; slice (default): one in {SLICES}, another every day",
    )  # fmt: skip


def pytest_collection_modifyitems(config, items):
    which = config.getoption("--slow")
    if which == "all":
        return
    today = datetime.date.today().toordinal() % SLICES

    def kept(item):
        if "slow" not in item.keywords:
            return True
        return which == "slice" and zlib.crc32(item.nodeid.encode()) % SLICES == today

    dropped = [item for item in items if not kept(item)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if kept(item)]
