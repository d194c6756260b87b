"""One stack for all recipes, and readers who paste from their pages."""

from collections.abc import Callable, Iterator

import pytest

from tests.client.recipes.reader import Reader, readers_at
from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import Rest, wait_until
from tests.e2e.stack import Stack, running_stack

MAX_PAUSE_SECONDS = 1.0
"""So that a paused run gives its lanes back at once."""
PASTED_SECONDS = 900.0
"""The longest block waits for a sweep of four runs of 20 batches."""
NUM_OTHER_LANES = 4
"""As many as the stack's own node has: a run of one lane of each role, and one more to roll out."""
FREE_SECONDS = 120.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    settings = {"TANDEM_MAX_PAUSE_SECONDS": str(MAX_PAUSE_SECONDS), "TANDEM_WEBHOOK_HOSTS": "127.0.0.1"}
    with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def rest(stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(stack)
    yield client
    client.close()


@pytest.fixture(scope="module")
def nodes(stack: Stack, rest: Rest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    joining = Nodes(stack, rest, tmp_path_factory.mktemp("nodes"))
    yield joining
    joining.stop()


@pytest.fixture(scope="module")
def other_node(nodes: Nodes) -> str:
    nodes.join("other", (), NUM_OTHER_LANES)
    return "other"


@pytest.fixture(scope="module")
def project(rest: Rest) -> str:
    """The id of the project that every reader works in."""
    return str(rest.results("/projects")[0]["id"])


@pytest.fixture(scope="module")
def reader_with(stack: Stack, rest: Rest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Reader]]:
    """`reader_with("read", "run")`: a reader with a token of these scopes."""
    with readers_at(stack.address, tmp_path_factory.mktemp("readers"), timeout_seconds=PASTED_SECONDS) as sign_in:

        def sign_in_with(*scopes: str) -> Reader:
            return sign_in(str(rest.post("/tokens", name="reader", scopes=scopes)["token"]))

        yield sign_in_with


@pytest.fixture(autouse=True)
def lanes_are_free(nothing_left_running: None, rest: Rest) -> None:
    """Before each recipe: what the one before has left is cancelled, and takes a moment to end."""
    wait_until(lambda: rest.num_lanes_held() == 0, "a pool without holders", FREE_SECONDS)
