"""The fixtures of `tests/engine` for tests on a real accelerator; without one every test here is skipped."""

import pytest
from deepspeed.accelerator import get_accelerator

from tests.engine.conftest import make_spec, process_group, tiny_checkpoint  # noqa: F401


@pytest.fixture(autouse=True)
def accelerator() -> str:
    """The accelerator's device type."""
    name = str(get_accelerator().device_name())
    if name == "cpu":
        pytest.skip("no accelerator on this machine")
    return name
