"""A rank process of `test_layouts`: writes checkpoints in some ZeRO configurations, and loads others' in some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.engine.rank_share import accumulate_share
from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedVersion

Held = dict[str, tuple[int, torch.Tensor]]
"""What one rank holds of the training state: key → (index of the first element in the flattened tensor, elements)."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the ranks have to do."""

    spec: RunSpec
    path: str
    version: PublishedVersion
    groups: list[GroupBatch]
    num_pairs: int
    written: Mapping[str, str]
    """Configuration → the URI of the checkpoint to write in it."""
    read: Mapping[str, Sequence[str]]
    """Configuration → the URIs of checkpoints to load in it."""


Observed = dict[str, Any]
"""What one rank held at a checkpoint (`held`, `counters`, `steps`, `client_state`), and one optimizer step later
(`held_after_step`, and `version_after_step`, the checksum of the published weights, the evaluated ones included)."""


def new_trainer(work: Work, config: str, rank: int, world_size: int) -> TrainerRank:
    """A trainer in a configuration, written `<name>` or `<name>+<setting of zero_optimization>=<value>`."""
    name, *overrides = config.split("+")
    if name.startswith("zero3"):
        # By default ZeRO 3 would keep every weight of so small a model gathered.
        overrides.append("stage3_param_persistence_threshold=0")
    paths = [f"zero_optimization.{override}" for override in overrides]
    deepspeed = DeepSpeedSpec.model_validate({"config": name, "overrides": paths})
    spec = RunSpec.model_validate(work.spec.model_copy(update={"deepspeed": deepspeed}).model_dump())
    trainer = trainer_rank(spec, work.path, rank, world_size)
    trainer.load_version(work.version)
    return trainer


def take_step(trainer: TrainerRank, work: Work) -> None:
    accumulate_share(trainer, work.groups, num_pairs_total=work.num_pairs, fresh=False)
    trainer.commit()


def held_by(trainer: TrainerRank) -> Held:
    return {
        key: (fragment.start, fragment.values.detach().cpu().clone())
        for key, fragment in trainer._training_state().fragments()
    }


def observe(trainer: TrainerRank, work: Work, client_state: dict[str, Any]) -> Observed:
    """What the rank holds now and after one more optimizer step."""
    state = trainer._training_state()
    observed: Observed = {
        "held": held_by(trainer),
        "counters": state.counters,
        "steps": state.optimizer.steps,
        "client_state": client_state,
    }
    take_step(trainer, work)
    version = trainer.version(1)
    assert version.evaluated is not None
    return observed | {
        "held_after_step": held_by(trainer),
        "version_after_step": version.sha256 + version.evaluated.sha256,
    }


def write(work: Work, config: str, rank: int, world_size: int) -> Observed:
    """Take a step, write the checkpoint, take another step."""
    trainer = new_trainer(work, config, rank, world_size)
    take_step(trainer, work)
    client_state = {"config": config, "world_size": world_size}
    trainer.save_checkpoint(work.written[config], client_state)
    return observe(trainer, work, client_state)


def read(work: Work, config: str, rank: int, world_size: int) -> dict[str, Observed]:
    """Load each checkpoint into the same trainer and take a step; returns what was observed by URI."""
    trainer = new_trainer(work, config, rank, world_size)
    return {uri: observe(trainer, work, trainer.load_checkpoint(uri).client_state) for uri in work.read[config]}


def run(work: Work, rank: int, world_size: int, folder: Path) -> dict[str, Any]:
    return {
        "written": {config: write(work, config, rank, world_size) for config in work.written},
        "read": {config: read(work, config, rank, world_size) for config in work.read},
    }
