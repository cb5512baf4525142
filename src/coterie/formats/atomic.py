"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import CoterieError

_ON_WINDOWS = os.name == "nt"
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL)


def check_name(path: Path) -> None:
    """Refuse names that Windows takes for a device or changes: what is written would be lost, or lie elsewhere."""
    reason = trouble_on_windows(path.name) if _ON_WINDOWS else None
    if reason is not None:
        raise CoterieError("On Windows, the output needs another name.", f"'{path.name}', {reason}")


def trouble_on_windows(name: str) -> str | None:
    """Why a file of this name cannot be written on Windows, if so."""
    if _DEVICES.fullmatch(name):
        return "which is the name of a device"
    if name.endswith((".", " ")):
        return "whose last sign is dropped"
    if any(sign in '<>:"|?*\\' or ord(sign) < 32 for sign in name):
        return "with a sign that names cannot hold"
    return None


def check_writable(path: Path, source: Path, force: bool) -> None:
    """Refuse, before any work is done, a place where the output cannot or should not go."""
    check_name(path)
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
    check_name(path)
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
        hint = "is it open in another program?" if isinstance(error, PermissionError) and path.exists() else None
        reason = os.strerror(error.errno) if error.errno else None
        raise CoterieError(f"'{path}' cannot be written.", reason, hint) from None
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
