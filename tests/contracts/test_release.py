"""The release that runs record is the one that is built."""

import tomllib
from pathlib import Path

from worker.contracts.release import VERSION


def test_the_recorded_release_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION
