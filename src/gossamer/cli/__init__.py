"""The command ``gossamer``: thin commands over the Python functions, no logic of their own.

Exit status: 0 done; 1 the schedule is not valid; 2 bad input, told in one line.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.
    """
    from gossamer.cli.app import app
    from gossamer.errors import GossamerError, VerificationError

    try:
        status = app(args=None if arguments is None else list(arguments), prog_name="gossamer", standalone_mode=False)
        sys.stdout.flush()
    except VerificationError as error:
        return _fail(str(error), 1)
    except GossamerError as error:
        return _fail(str(error), 2)
    except MemoryError:
        return _fail("not enough memory for this size", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the command-line library raises on bad usage has it
            raise
        return _fail(_usage(error, sys.argv[1:] if arguments is None else arguments), 2)
    return status if isinstance(status, int) else 0


def _usage(error: Any, arguments: Sequence[str]) -> str:
    """Return what was wrong with the usage, with the word that was given."""
    text = str(error.format_message()).removesuffix(".").replace("Value error, ", "")
    if not text:
        return "no command given; see gossamer --help"
    for name in getattr(getattr(error, "param", None), "opts", ()):
        for word, given in itertools.pairwise(arguments):
            if word == name and repr(given) not in text:
                text += f"; got {given!r}"
    return text


def _fail(text: str, status: int) -> int:
    print("gossamer: " + " ".join(text.split()), file=sys.stderr)
    return status
