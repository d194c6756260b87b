"""A stack for each test, since with GPUs or more nodes in the pool other tests' runs would not find their lanes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack, running_stack


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with running_stack(tmp_path) as running:
        yield running


@pytest.fixture
def rest(stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(stack)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_left_running() -> None:
    """The stack ends with the test."""


@pytest.fixture
def nodes(stack: Stack, rest: Rest, tmp_path: Path) -> Iterator[Nodes]:
    """Machines that join the stack's pool when the test says so, and leave it when the test ends."""
    joining = Nodes(stack, rest, tmp_path)
    yield joining
    joining.stop()
