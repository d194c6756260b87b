"""Old log-probs of the trainer's own: what rollout's are in fp32, and free of what rollout rounds differently."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.algorithms.stale_batch import ALGORITHMS, SECTIONS, passes, train
from tests.engine.replay_recorder import record_replays
from tests.engine.training_setup import TrainingSetup
from tests.slow_params import slow_but
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch
from worker.scheduling.planning.algorithm_passes import AlgorithmPasses
from worker.scheduling.planning.policy_copies import PolicyCopies

TRAINER = {"old_log_probs": "trainer"}
"""Of the `sampling` section."""
ROUNDING = 2e-3
"""Of log-probs and means."""
BOUNDS = {"flow_grpo": {"clip_range": 1e-3}, "flow_dppo": {"divergence_bound": 1e-7}}
"""Those of `ALGORITHMS` that are beyond it."""


def setup_of(make_setup: SetupMaker, name: str, sampling: dict[str, Any], **sections: Any) -> TrainingSetup:
    algorithm = ALGORITHMS[name] | BOUNDS.get(name, {})
    return make_setup(algorithm=algorithm, sampling=sampling, **SECTIONS | sections)


def rounded(groups: list[GroupBatch]) -> list[GroupBatch]:
    """The groups as rollout stores them where it rounds differently: other log-probs and means, the same samples."""
    generator = torch.Generator().manual_seed(3)

    def noise(tensor: torch.Tensor) -> torch.Tensor:
        return ROUNDING * (1 + torch.rand(tensor.shape, generator=generator))

    return [
        replace(
            group,
            trajectories=tuple(
                replace(
                    part,
                    log_probs=part.log_probs + noise(part.log_probs),
                    means={step: mean + noise(mean) for step, mean in part.means.items()},
                )
                for part in group.trajectories
            ),
        )
        for group in groups
    ]


def weights(trainer: TrainerRank) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in trainer._trainable.values()]).double()


@pytest.mark.parametrize("name", slow_but(["mix_grpo", "grpo_guard"], ALGORITHMS))
def test_in_fp32_the_trainers_log_probs_train_as_rollouts_do(make_setup: SetupMaker, name: str) -> None:
    ends, start = [], torch.empty(0)
    for sampling in ({}, TRAINER):
        setup = setup_of(make_setup, name, sampling)
        trainer = setup.trainer()
        start = weights(trainer)
        train(setup, trainer, staleness=0)
        ends.append(weights(trainer))
    moved = float((ends[0] - start).norm())
    assert moved > 0
    assert float((ends[1] - ends[0]).norm()) < 1e-2 * moved


@pytest.mark.parametrize("name", slow_but(["flow_grpo", "flow_dppo"], ["flow_grpo", "grpo_guard", "flow_dppo"]))
def test_what_rollout_rounds_differently_clips_pairs_unless_the_trainer_recomputes(
    make_setup: SetupMaker, name: str
) -> None:
    clipped = {}
    for source, sampling in {"rollout": {}, "trainer": TRAINER}.items():
        setup = setup_of(make_setup, name, sampling)
        groups, _ = passes(setup)[0]
        stats = setup.accumulate(setup.trainer(), rounded(groups))
        clipped[source] = stats.sums["clipped"] / stats.num_pairs
        assert stats.maxima["replay_ratio_deviation"] > ROUNDING / 2, "the gate still compares with rollout"
        if source == "trainer":
            assert stats.maxima["ratio_deviation"] == 0
    assert clipped["trainer"] == 0
    assert clipped["rollout"] > 0.3


@pytest.mark.parametrize("name", slow_but(["grpo_guard"], ["flow_grpo", "grpo_guard"]))
def test_recomputed_log_probs_do_not_depend_on_what_rollout_stored(make_setup: SetupMaker, name: str) -> None:
    """In every optimizer step of the batch, whether they are taken from the pass, replayed or recorded."""
    ends = []
    for change in (list, rounded):
        setup = setup_of(make_setup, name, TRAINER)
        trainer = setup.trainer()
        start = weights(trainer)
        for groups, is_fresh in passes(setup):
            setup.accumulate(trainer, change(groups), fresh=is_fresh)
            trainer.commit()
        ends.append(weights(trainer))
    assert float((ends[1] - ends[0]).norm()) < 1e-2 * float((ends[0] - start).norm())


@pytest.mark.parametrize(
    ("num_minibatches", "num_epochs"), slow_but([(1, 1), (2, 2)], [(1, 1), (1, 3), (2, 1), (2, 2)])
)
@pytest.mark.parametrize("name", slow_but(["grpo_guard"], ["flow_grpo", "grpo_guard"]))
def test_as_many_pairs_are_recomputed_as_the_planner_counts(
    make_setup: SetupMaker, monkeypatch: pytest.MonkeyPatch, name: str, num_minibatches: int, num_epochs: int
) -> None:
    sizes = {"num_minibatches": num_minibatches, "num_epochs_per_batch": num_epochs}
    setup = setup_of(make_setup, name, TRAINER, batch=SECTIONS["batch"] | sizes)
    trainer, replayed = setup.trainer(), record_replays(monkeypatch)
    num_trained = 0
    for groups, is_fresh in passes(setup):
        num_trained += setup.accumulate(trainer, groups, fresh=is_fresh).num_pairs
        trainer.commit()
    assert sum(replayed) == pytest.approx(num_trained * AlgorithmPasses.of(setup.spec).num_recomputed)
    assert PolicyCopies.of(setup.spec).older == (trainer._behaviour is not None) == bool(replayed)
