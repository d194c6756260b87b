"""The committed judge, loaded once for the whole folder."""

import pytest

from worker.engine.reward.shapes.judge import Judge


@pytest.fixture(scope="session")
def judge() -> Judge:
    return Judge.load()
