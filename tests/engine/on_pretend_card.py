"""A pytest plugin: the tests of a process run with the pretended card as their accelerator."""

from contextlib import ExitStack

import pytest

from tests.engine.pretend_card import pretend

_STACK = ExitStack()


def pytest_sessionstart(session: pytest.Session) -> None:
    _STACK.enter_context(pretend())


def pytest_sessionfinish(session: pytest.Session) -> None:
    _STACK.close()
