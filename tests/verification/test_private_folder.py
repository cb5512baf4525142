"""The folder for what does not fit into memory: several processes may make and remove theirs at the same time."""

from __future__ import annotations

import tempfile
from pathlib import Path

from coterie.verification import reading


def test_a_folder_that_vanishes_meanwhile_is_no_trouble(tmp_path, monkeypatch):
    """Its owner removes it between the look at the place and the look at the folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = tmp_path / "coterie-check-abcdefgh"
    listed = Path.glob

    def glob(self, pattern):
        return [*listed(self, pattern), gone] if self == tmp_path else listed(self, pattern)

    monkeypatch.setattr(Path, "glob", glob)
    monkeypatch.setattr(Path, "is_dir", lambda self: self == gone or self.stat().st_mode & 0o40000 != 0)
    with reading.private_folder() as folder:
        assert Path(folder).exists()
    assert not Path(folder).exists()
