"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import CoterieError


def check_writable(path: Path, source: Path, force: bool) -> None:
    """Refuse, before any work is done, a place where the output cannot or should not go."""
    if not path.parent.is_dir():
        raise CoterieError("The folder of the output must exist.", f"'{path.parent}'")
    if path.exists() and source.exists() and path.samefile(source):
        raise CoterieError("The output must not be the input file.", f"'{path}'")
    if path.exists() and not force:
        raise CoterieError("The output file exists already.", f"'{path}'", "--force replaces it.")
    if not os.access(path.parent, os.W_OK):
        raise CoterieError("The folder of the output must be writable.", f"'{path.parent}'")


def atomically(path: Path, write: Callable[[str], None], private: bool = False) -> None:
    """Let `write` make a private file, and move it into place; whatever fails leaves nothing behind.

    With `private` it stays one that only its owner may read, even if it replaces one that others could.
    """
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        write(temporary)
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.chmod(temporary, 0o600 if private else _mode(path))
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise CoterieError(f"'{path}' cannot be written.", os.strerror(error.errno) if error.errno else None) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
