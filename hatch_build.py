"""The wheel holds the documentation's site, if `make docs` has built it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SiteHook(BuildHookInterface):
    """Take build/site into the wheel as coterie/site."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder to what is packed; an editable install finds it where it is."""
        site = Path(self.root) / "build" / "site"
        if self.target_name == "wheel" and version == "standard" and (site / "index.html").is_file():
            build_data["force_include"][str(site)] = "coterie/site"
