"""A trainer and its trajectories for any algorithm, on the tiny checkpoint."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.engine.frozen import draw_groups, perturbed_adapter
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.engine import TrainerEngine
from worker.engine.types import GroupBatch, PublishedAdapter, UpdateStats


@dataclass(frozen=True)
class Learning:
    """2 groups of 4 members, drawn by the adapter that each trainer starts from."""

    spec: RunSpec
    path: str
    adapter: PublishedAdapter
    groups: list[GroupBatch]

    def trainer(self) -> TrainerEngine:
        trainer = TrainerEngine(self.spec, self.path, 0, 1)
        trainer.load_adapter(self.adapter)
        return trainer

    def accumulate(self, trainer: TrainerEngine, groups: list[GroupBatch] | None = None, **changes: Any) -> UpdateStats:
        num_pairs = self.spec.algebra.num_pairs_per_optimizer_step
        return trainer.accumulate(
            self.groups if groups is None else groups, **{"num_pairs_total": num_pairs, "fresh": True, **changes}
        )

    def step(self, trainer: TrainerEngine) -> str:
        """One optimizer step; the checksum of what is published after it."""
        self.accumulate(trainer)
        trainer.commit()
        return trainer.adapter(0).sha256


LearningMaker = Callable[..., Learning]


@pytest.fixture(scope="session")
def make_learning(tiny_checkpoint: str, make_spec: Callable[..., RunSpec], process_group: None) -> LearningMaker:
    """Sections of the spec by keyword. What was drawn once is handed out again: nobody changes it."""
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
        spec = RunSpec.model_validate(spec.model_dump() | {"algorithm": algorithm})
        adapter = perturbed_adapter(spec, tiny_checkpoint, seed=1)
        return Learning(spec, tiny_checkpoint, adapter, draw_groups(spec, tiny_checkpoint, adapter))

    return make
