"""The committed judge, loaded once per session."""

import pytest

from worker.engine.reward.shapes.judge import Judge


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge.load()
