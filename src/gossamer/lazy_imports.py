"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazy(package: str, **modules: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: its names are imported from its modules when they are first used.

    `package`: the package's ``__name__``. `**modules`: for each module of the package the names that stand in it, with
    blanks between them; nothing for the module itself.

    >>> find = lazy("gossamer", reading="whole choice", version="")
    >>> find("whole")(3, "sides"), find("version").__name__
    (3, 'gossamer.version')
    """
    home = {name: module for module, names in modules.items() for name in names.split() or [module]}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home[name]}")
        value = module if name == home[name] else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find
