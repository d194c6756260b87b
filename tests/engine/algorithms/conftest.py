"""A trainer and its trajectories for any algorithm, on the tiny checkpoint."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.learning import Learning
from worker.contracts.run_spec import RunSpec

LearningMaker = Callable[..., Learning]


@pytest.fixture(scope="session")
def make_learning(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], process_group: None) -> LearningMaker:
    """2 groups of 4 members; sections of the spec by keyword. What was drawn once is handed out again: nobody changes
    it."""
    drawn: dict[str, Learning] = {}

    def make(**sections: Any) -> Learning:
        key = repr(sections)
        if key not in drawn:
            drawn[key] = draw(**sections)
        return drawn[key]

    def draw(**sections: Any) -> Learning:
        # The suite's spec sets a clip range, which other algorithms do not have.
        algorithm = sections.pop("algorithm", {})
        spec = make_spec(**sections)
        return Learning.drawn(RunSpec.model_validate(spec.model_dump() | {"algorithm": algorithm}), tiny_checkpoint)

    return make
