"""The command ``gossamer``: thin commands over the Python functions, no logic of their own.

Exit status: 0 done; 1 the schedule is not valid; 2 bad input, told in one line.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

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
        message = getattr(error, "format_message", None)  # usage errors of the command-line library
        if message is None:
            raise
        return _fail(message() or "no command given; see gossamer --help", 2)
    return status if isinstance(status, int) else 0


def _fail(text: str, status: int) -> int:
    print("gossamer: " + " ".join(text.split()), file=sys.stderr)
    return status
