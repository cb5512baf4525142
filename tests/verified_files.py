"""What the tests of verification share: a release on the disk, and errors that quote nothing of it."""

from __future__ import annotations

MARKER = "xq7-secret-4711"


def written(tmp_path, text, name="release.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def assert_silent(error):
    while error is not None:
        assert MARKER not in str(error)
        assert MARKER not in repr(error)
        assert error.__cause__ is None
        assert error.__context__ is None
        error = error.__context__
