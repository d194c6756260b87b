"""Lanes load without packages that libraries import unasked."""

import importlib
import sys
from pathlib import Path

import pytest

from worker.engine import unwanted_imports
from worker.engine.unwanted_imports import without_unwanted_imports


@pytest.fixture
def unwanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package that no lane wants."""
    (tmp_path / "an_unwanted_package.py").write_text("answer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(unwanted_imports, "UNWANTED", ("an_unwanted_package",))
    return "an_unwanted_package"


def test_what_no_lane_wants_seems_not_installed_while_a_lane_loads(unwanted: str) -> None:
    with without_unwanted_imports(), pytest.raises(ModuleNotFoundError):
        importlib.import_module(unwanted)
    assert importlib.import_module(unwanted).answer == 42
    del sys.modules[unwanted]


def test_what_was_imported_before_stays(unwanted: str) -> None:
    before = importlib.import_module(unwanted)
    with without_unwanted_imports():
        assert importlib.import_module(unwanted) is before
    assert sys.modules.pop(unwanted) is before
