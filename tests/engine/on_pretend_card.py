"""A pytest plugin: the tests of a process run with the pretended card as their accelerator."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engine.pretend_card import pretend
from worker.engine.models import kernels

_STACK = ExitStack()
_IN_THE_KIT = Path(__file__).parents[1] / "gpu"


def pytest_sessionstart(session: pytest.Session) -> None:
    _STACK.enter_context(pretend())


def pytest_sessionfinish(session: pytest.Session) -> None:
    _STACK.close()


@pytest.fixture(autouse=True)
def nothing_compiles_in_the_kits_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit runs `tests/gpu` early and within a minute, of which a card's compiler may take all."""
    if _IN_THE_KIT in request.path.parents:
        monkeypatch.setattr(kernels, "_compile_blocks", _refused)


def _refused(*_: object) -> None:
    raise AssertionError("a test of `tests/gpu` compiles blocks")
