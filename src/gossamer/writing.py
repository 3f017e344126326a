"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gossamer.errors import FileFormatError

__all__ = ["whole_file"]


class whole_file:  # noqa: N801 - used like a function
    """Give a temporary path beside `path` that replaces it when the block ends well and vanishes when it does not.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "x.txt"
    >>> with whole_file(target) as part:
    ...     _ = part.write_text("all of it")
    >>> target.read_text()
    'all of it'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        """Make the temporary file; FileFormatError if the folder does not take one."""
        try:
            if self.path.is_dir():
                raise IsADirectoryError(21, "is a folder")
            handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=self.path.suffix, dir=self.path.parent)
        except OSError as error:
            raise FileFormatError(f"cannot write {str(self.path)!r}: {error.strerror or error}") from None
        os.close(handle)
        umask = os.umask(0)
        os.umask(umask)
        self.part = Path(name)
        self.part.chmod(0o666 & ~umask)
        return self.part

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Move the file into place, or remove it."""
        if kind is None:
            self.part.replace(self.path)
        else:
            self.part.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise FileFormatError(f"cannot write {str(self.path)!r}: {error.strerror or error}") from error
