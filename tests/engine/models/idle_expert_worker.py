"""A rank process of `test_idle_expert`: two optimizer steps in each ZeRO configuration."""

from pathlib import Path
from typing import Any

from tests.engine.models.family_worker import two_steps
from tests.engine.training_setup import TrainingSetup
from worker.contracts.deepspeed import DeepSpeedSpec


def run(task: tuple[TrainingSetup, dict[str, Any]], rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    del folder
    setup, sections = task
    return {
        name: two_steps(setup, DeepSpeedSpec.model_validate(section), rank, world_size)
        for name, section in sections.items()
    }
