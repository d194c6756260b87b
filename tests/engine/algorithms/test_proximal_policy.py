"""Stale pairs are clipped around the weights before their batch's first optimizer step, in all of its steps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.algorithms.stale_batch import ALGORITHMS, SECTIONS, STALE, current_version, passes, train
from tests.engine.replay_recorder import record_replays
from tests.engine.training_setup import TrainingSetup, shared_version
from tests.slow_params import slow_but
from worker.engine.algorithms.base import ReplayedPairs
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import PublishedShard
from worker.scheduling.planning.algorithm_passes import AlgorithmPasses


def trainer_at(setup: TrainingSetup, version: PublishedShard) -> TrainerRank:
    trainer = setup.trainer()
    trainer.load_version(version)
    return trainer


class Observed:
    """What a trainer rank's algorithm is given: log-ratios to the behaviour policy, of the proximal policy and of the
    one being trained."""

    def __init__(self, trainer: TrainerRank) -> None:
        self._proximal: list[torch.Tensor] = []
        self._trained: list[torch.Tensor] = []
        algorithm: Any = trainer._learner._algorithm  # type: ignore[attr-defined]
        terms = algorithm.terms

        def recording(pairs: ReplayedPairs) -> Any:
            if pairs.proximal is not None:
                self._proximal.append(pairs.proximal.log_ratios.clone())
            self._trained.append(algorithm.log_ratios(pairs).detach().clone())
            return terms(pairs)

        algorithm.terms = recording

    def take(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Both for all pairs since the last call; the first is empty where pairs had no proximal policy."""
        taken = tuple(torch.cat(values) if values else torch.empty(0) for values in (self._proximal, self._trained))
        self._proximal, self._trained = [], []
        return taken[0], taken[1]


@pytest.mark.parametrize(
    ("name", "stage", "tuning"),
    slow_but(
        [("grpo_guard", 2, "lora"), ("flow_grpo", 1, "full")],
        [
            *((name, 0, "lora") for name in ALGORITHMS),
            ("flow_grpo", 1, "lora"),
            ("grpo_guard", 2, "lora"),
            ("flow_dppo", 3, "lora"),
            ("flow_grpo", 1, "full"),
            ("flow_grpo", 3, "full"),
        ],
    ),
)
def test_every_pass_is_given_the_policy_before_the_first_step(
    make_setup: SetupMaker, name: str, stage: int, tuning: str
) -> None:
    deepspeed = {"config": f"zero{stage}"}
    setup = make_setup(algorithm=ALGORITHMS[name], pipeline=STALE, deepspeed=deepspeed, tuning=tuning, **SECTIONS)
    current = current_version(setup)
    untrained, trainer = trainer_at(setup, current), trainer_at(setup, current)
    seen_untrained, seen = Observed(untrained), Observed(trainer)
    for number, (groups, is_fresh) in enumerate(passes(setup)):
        setup.accumulate(untrained, groups, fresh=False)
        none, expected = seen_untrained.take()
        untrained.abort()
        setup.accumulate(trainer, groups, fresh=is_fresh, staleness=1, behaviour=setup.version)
        found, trained = seen.take()
        assert len(none) == 0, "fresh pairs have no proximal policy"
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
        moved = float((trained - expected).abs().max())
        assert moved > 1e-4 if number else moved < 1e-6
        trainer.commit()


@pytest.mark.parametrize(("num_minibatches", "num_epochs"), slow_but([(2, 2)], [(1, 1), (1, 3), (2, 1), (2, 2)]))
@pytest.mark.parametrize("name", slow_but(["flow_dppo"], ["flow_grpo", "flow_dppo"]))
def test_as_many_pairs_are_replayed_as_the_planner_counts(
    make_setup: SetupMaker, monkeypatch: pytest.MonkeyPatch, name: str, num_minibatches: int, num_epochs: int
) -> None:
    sizes = {"num_minibatches": num_minibatches, "num_epochs_per_batch": num_epochs}
    setup = make_setup(algorithm=ALGORITHMS[name], pipeline=STALE, **SECTIONS | {"batch": SECTIONS["batch"] | sizes})
    trainer = trainer_at(setup, current_version(setup))
    replayed = record_replays(monkeypatch)
    num_trained = num_replayed = 0
    for groups, is_fresh in passes(setup):
        replayed.clear()
        stats = setup.accumulate(trainer, groups, fresh=is_fresh, staleness=1, behaviour=setup.version)
        trainer.commit()
        num_trained += stats.num_pairs
        # The first pass replays for the replay gate alone.
        num_replayed += 0 if is_fresh else sum(replayed)
    assert num_replayed == pytest.approx(num_trained * AlgorithmPasses.of(setup.spec).num_proximal)


def test_what_is_not_stale_trains_bitwise_the_same_whatever_the_policy_to_clip_around(make_setup: SetupMaker) -> None:
    pipelines: list[dict[str, Any]] = [{}, STALE, STALE | {"stale_clip": "behaviour"}, STALE | {"importance_cap": 1.0}]
    checksums = []
    for pipeline in pipelines:
        setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=pipeline, **SECTIONS)
        checksums.append(train(setup, setup.trainer(), staleness=0))
    assert len(set(checksums)) == 1


def test_around_the_behaviour_policy_stale_pairs_are_clipped_as_if_they_were_fresh(make_setup: SetupMaker) -> None:
    clip = {"stale_clip": "behaviour"}
    setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE | clip, **SECTIONS)
    current = current_version(setup)
    trainer, fresh, proximal = (
        trainer_at(setup, current),
        trainer_at(setup, current),
        trainer_at(make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE, **SECTIONS), current),
    )
    for groups, is_fresh in passes(setup):
        # The replay gate, which would fail, is not checked here.
        setup.accumulate(fresh, groups, fresh=is_fresh)
        fresh.commit()
    stale = train(setup, trainer, staleness=1)
    assert stale == fresh.version(2).sha256
    assert stale != train(setup, proximal, staleness=1)


@pytest.mark.parametrize("name", slow_but(["flow_dppo"], ALGORITHMS))
def test_by_the_version_that_drew_the_data_training_is_as_on_fresh_data(make_setup: SetupMaker, name: str) -> None:
    """Behaviour and proximal policy are one, so all weights are 1 but for the rounding of their replay."""
    setup = make_setup(algorithm=ALGORITHMS[name], pipeline=STALE, **SECTIONS)
    trained = []
    for staleness in (0, 1):
        trainer = setup.trainer()
        train(setup, trainer, staleness=staleness)
        trained.append(trainer.version(1).loaded[0].tensors)
    for key, tensor in trained[0].items():
        moved = (tensor - setup.version.tensors[key]).abs().max()
        assert (trained[1][key] - tensor).abs().max() < 1e-2 * moved, key


def test_an_aborted_mini_batch_leaves_no_trace(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE, **SECTIONS)
    current = current_version(setup)
    expected = train(setup, trainer_at(setup, current), staleness=1)
    trainer = trainer_at(setup, current)
    for groups, is_fresh in passes(setup):
        stale: dict[str, Any] = {"fresh": is_fresh, "staleness": 1, "behaviour": setup.version}
        setup.accumulate(trainer, groups[:1], **stale)
        trainer.abort()
        setup.accumulate(trainer, groups, **stale)
        trainer.commit()
    assert trainer.version(2).sha256 == expected


@pytest.mark.parametrize("is_resumed", slow_but([True], [False, True]))
def test_a_batch_may_begin_with_any_of_its_mini_batches(
    make_setup: SetupMaker, tmp_path: Path, is_resumed: bool
) -> None:
    """The proximal policy is the weights before its first optimizer step, whether the rank has trained the batch before
    or was loaded from a checkpoint written after that."""
    setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE, **SECTIONS)
    trainer = trainer_at(setup, current_version(setup))
    train(setup, trainer, staleness=1)
    if is_resumed:
        trainer.save_checkpoint(str(tmp_path / "checkpoint"), {})
        trainer = setup.trainer()
        trainer.load_checkpoint(str(tmp_path / "checkpoint"))
    seen = Observed(trainer)
    for number, groups in enumerate([setup.groups[2:], setup.groups[2:], setup.groups[:2]]):
        next_batch = [replace(group, batch=1) for group in groups]
        setup.accumulate(trainer, next_batch, fresh=False, staleness=1, behaviour=setup.version)
        found, trained = seen.take()
        if number == 0:
            before = found
            assert torch.equal(found, trained), "it is the policy being trained"
        elif number == 1:
            assert torch.equal(found, before)
        assert (found - trained).abs().max() > 1e-4 or number == 0
        trainer.commit()


def test_once_other_weights_are_loaded_nothing_is_known_of_a_batch_with_the_same_number(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE, **SECTIONS)
    trainer = trainer_at(setup, current_version(setup))
    train(setup, trainer, staleness=1)
    trainer.load_version(shared_version(setup.spec, setup.path, seed=3, policy_version=1))
    seen = Observed(trainer)
    setup.accumulate(trainer, setup.groups[:2], fresh=False, staleness=1)
    found, trained = seen.take()
    assert torch.equal(found, trained)


def test_padding_over_a_skipped_group_adds_nothing_in_any_epoch(make_setup: SetupMaker) -> None:
    """Such a group has no log-ratios on record; a rank in lockstep that is given no micro-batch may go over it."""
    setup = make_setup(algorithm=ALGORITHMS["flow_grpo"], pipeline=STALE, deepspeed={"config": "zero2"}, **SECTIONS)
    checksums = []
    for num_padding in (0, 2):
        trainer = trainer_at(setup, current_version(setup))
        for groups, is_fresh in passes(setup):
            stale: dict[str, Any] = {"fresh": is_fresh, "staleness": 1, "behaviour": setup.version}
            stale["num_pairs_total"] = setup.spec.algebra.num_pairs_per_optimizer_step
            if num_padding:
                trainer.accumulate(groups[:1], [], num_padding=num_padding, **stale)
            trainer.accumulate(groups[1:], **stale)
            trainer.commit(num_skipped_groups=1)
        checksums.append(trainer.version(2).sha256)
    assert checksums[0] == checksums[1]
