"""What the shell offers at a place where a network or a task is asked for."""

from __future__ import annotations

__all__ = ["networks", "tasks"]


def networks(incomplete: str) -> list[str]:
    """Return an example of each family of networks that begins so; files come from the shell."""
    from gossamer.networks.families import FAMILIES

    return [family.example for family in FAMILIES if family.example.startswith(incomplete.lower())]


def tasks(incomplete: str) -> list[str]:
    """Return the names of tasks that begin so, in any spelling that is taken."""
    from gossamer.questions.tasks import ALIASES, TASKS

    return [name for name in (*TASKS, *ALIASES) if name.startswith(incomplete.lower())]
