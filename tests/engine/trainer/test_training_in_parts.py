"""A rank whose device has not enough memory accumulates the same gradients in smaller passes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.small_device import MESSAGE, NoMemoryFor, no_memory_for
from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from tests.engine.training_setup import TrainingSetup
from tests.slow_params import slow_but
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import DeviceMemoryError, OpenGradientsLostError
from worker.engine.shortage_notes import take_shortages
from worker.engine.trainer.rank import TrainerRank

SetupMaker = Callable[..., TrainingSetup]


@pytest.fixture(scope="module")
def setup_of(process_group: None, tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> SetupMaker:
    return lambda **sections: TrainingSetup.drawn(make_spec(**sections), tiny_checkpoint)


def gradient_of(setup: TrainingSetup, trainer: TrainerRank) -> torch.Tensor:
    """The flat gradient of an optimizer step over all groups."""
    recorder = GradientRecorder(trainer)
    setup.accumulate(trainer)
    trainer.commit()
    return recorder.last


@pytest.mark.parametrize("in_backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("zero", slow_but([{}], [{}, {"deepspeed": {"config": "zero1"}}]), ids=["zero0", "zero1"])
def test_micro_batches_are_trained_in_parts_with_the_gradients_of_whole_ones(
    setup_of: SetupMaker, zero: dict[str, Any], in_backward: bool
) -> None:
    setup = setup_of(**zero)
    expected = gradient_of(setup, setup.trainer())
    trainer = setup.trainer()
    take_shortages()
    with no_memory_for(trainer._model.transformer, more_than=2, in_backward=in_backward) as rows:
        found = gradient_of(setup, trainer)
    assert relative_distance(found, expected) < 1e-4
    # A micro-batch of 4 pairs: half of it fits, and is not exceeded again after the first one,
    # whose second pass is the reference policy's.
    assert rows[0] == 4 and set(rows[2:]) == {2}
    assert [shortage.remedy for shortage in take_shortages()] == ["in calls of 2 from now on"]


def test_a_backward_pass_that_fails_over_open_gradients_sends_the_run_to_its_checkpoint(setup_of: SetupMaker) -> None:
    setup = setup_of()
    trainer = setup.trainer()
    setup.accumulate(trainer, setup.groups[:1])
    with (
        no_memory_for(trainer._model.transformer, more_than=2, in_backward=True),
        pytest.raises(OpenGradientsLostError, match="over 4 pairs ran out of memory over open gradients"),
    ):
        setup.accumulate(trainer, setup.groups[1:])
    # A forward pass that fails has not touched them.
    trainer.abort()
    expected = gradient_of(setup, setup.trainer())
    recorder = GradientRecorder(trainer)
    setup.accumulate(trainer, setup.groups[:1])
    with no_memory_for(trainer._model.transformer, more_than=2):
        setup.accumulate(trainer, setup.groups[1:])
    trainer.commit()
    assert relative_distance(recorder.last, expected) < 1e-4


@pytest.mark.parametrize(
    ("sections", "why"),
    [
        ({"deepspeed": {"config": "zero2"}}, r"in one pass: lower `batch.micro_batch_size`"),
        ({"pipeline": {"deterministic": True}}, r"\(a deterministic run keeps .*: lower `batch.micro_batch_size`"),
    ],
    ids=["in lockstep", "deterministic"],
)
def test_where_passes_may_not_be_made_smaller_the_run_fails_with_what_to_change(
    setup_of: SetupMaker, sections: dict[str, Any], why: str
) -> None:
    setup = setup_of(**sections)
    trainer = setup.trainer()
    try:
        with no_memory_for(trainer._model.transformer, more_than=2), pytest.raises(DeviceMemoryError, match=why):
            setup.accumulate(trainer)
    finally:
        torch.use_deterministic_algorithms(False)


def full(*_: Any, **__: Any) -> None:
    raise torch.OutOfMemoryError(MESSAGE)


@pytest.mark.parametrize("config", slow_but(["zero2"], ["zero0", "zero2"]))
def test_an_optimizer_step_without_memory_says_what_to_change(setup_of: SetupMaker, config: str) -> None:
    setup = setup_of(deepspeed={"config": config})
    trainer = setup.trainer()
    setup.accumulate(trainer)
    optimizer = trainer._deepspeed_engine.optimizer
    getattr(optimizer, "optimizer", optimizer).register_step_pre_hook(full)
    with pytest.raises(DeviceMemoryError, match=r"by 2\.5 GiB when it was to take an optimizer step: shard or offload"):
        trainer.commit()


def test_copies_to_be_published_without_memory_say_what_to_change(
    setup_of: SetupMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = setup_of().trainer()
    monkeypatch.setattr("worker.engine.trainer.policy.trained_policy.snapshot", full)
    with pytest.raises(DeviceMemoryError, match=r"copy the weights that it publishes: shard or offload"):
        trainer.snapshot()


def test_packing_what_is_published_without_memory_says_what_to_change(setup_of: SetupMaker) -> None:
    trainer = setup_of(base_model={"dtype": "bf16"}).trainer()
    copies = trainer.snapshot()
    wanted = r"by 2\.5 GiB when it was to pack policy version 3 to be published: shard or offload"
    with NoMemoryFor(100), pytest.raises(DeviceMemoryError, match=wanted):
        trainer.packed(copies, 3)
    assert len(trainer.packed(copies, 3)) == len(copies), "the copies are whole"


def test_a_change_of_role_without_memory_says_what_to_change(
    setup_of: SetupMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = setup_of(pipeline={"tag": "greedy"}).trainer()
    monkeypatch.setattr(trainer._policy, "enter_generation", full)
    with pytest.raises(DeviceMemoryError, match=r"change to the role of a rollout lane: .*offload_idle_states"):
        trainer.switch(LaneRole.ROLLOUT)


@pytest.mark.parametrize(
    ("full_at", "work"),
    [
        ("policy.trained_policy.load_model", "load the model"),
        ("zero.engine_start.deepspeed.initialize", "make the optimizer"),
    ],
)
def test_a_rank_that_cannot_hold_what_it_loads_says_what_to_change(
    setup_of: SetupMaker, monkeypatch: pytest.MonkeyPatch, full_at: str, work: str
) -> None:
    setup = setup_of()
    monkeypatch.setattr(f"worker.engine.trainer.{full_at}", full)
    with pytest.raises(DeviceMemoryError, match=rf"by 2\.5 GiB when it was to {work}: shard or offload"):
        setup.trainer()


def test_checkpoints_and_exports_without_memory_say_what_to_change(
    setup_of: SetupMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trainer, uri = setup_of().trainer(), f"file://{tmp_path}/checkpoint"
    for name in ("save", "load"):
        monkeypatch.setattr(f"worker.engine.trainer.rank.{name}", full)
    monkeypatch.setattr(trainer._policy, "exported", full)
    with pytest.raises(DeviceMemoryError, match="when it was to write a checkpoint: shard or offload"):
        trainer.save_checkpoint(uri, {})
    with pytest.raises(DeviceMemoryError, match="when it was to restore a checkpoint: shard or offload"):
        trainer.load_checkpoint(uri)
    with pytest.raises(DeviceMemoryError, match="when it was to export the weights: shard or offload"):
        trainer.export(str(tmp_path))
