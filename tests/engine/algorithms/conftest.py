"""Training setups of any algorithm on the tiny checkpoint."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.training_setup import TrainingSetup
from worker.contracts.run_spec import RunSpec

SetupMaker = Callable[..., TrainingSetup]


@pytest.fixture(scope="session")
def make_setup(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], process_group: None) -> SetupMaker:
    """Makes setups with 2 groups of 4 members; keywords override sections of the spec. Equal setups are drawn once,
    since no test changes them."""
    drawn: dict[str, TrainingSetup] = {}

    def make(**sections: Any) -> TrainingSetup:
        key = repr(sections)
        if key not in drawn:
            drawn[key] = draw(**sections)
        return drawn[key]

    def draw(**sections: Any) -> TrainingSetup:
        # The suite's spec sets a clip range, which other algorithms do not have.
        algorithm = sections.pop("algorithm", {})
        spec = RunSpec.model_validate(make_spec(**sections).model_dump() | {"algorithm": algorithm})
        return TrainingSetup.drawn(spec, tiny_checkpoint)

    return make
