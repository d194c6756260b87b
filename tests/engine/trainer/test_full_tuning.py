"""Full fine-tuning keeps the promises of LoRA training, in every ZeRO stage and both dtypes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.engine.stacked import latents_of
from tests.engine.trainer.gradient_recorder import GradientRecorder, relative_distance
from tests.engine.trainer.lent_generation import assert_equal, copy_of, generate_fragment, lend, training_state
from tests.engine.trainer.reference_update import reference_update
from tests.slow_params import slow_but
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import ReplayGateError
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.models.precision import DTYPES
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GeneratedFragment, GroupBatch, PublishedShard

SpecMaker = Callable[..., RunSpec]
TrainerMaker = Callable[..., TrainerRank]
NUM_PAIRS = 24
TAG = {"tag": "greedy"}
KL = {"kl_coefficient": 0.1}
ALL_SHARDED = ["zero_optimization.stage3_param_persistence_threshold=0"]
"""By default ZeRO 3 would keep every weight of so small a model gathered."""


def full(config: str = "zero0", dtype: str = "fp32", **sections: Any) -> dict[str, Any]:
    deepspeed = {"config": config, **sections.pop("deepspeed", {})}
    return {"tuning": "full", "deepspeed": deepspeed, "base_model": {"dtype": dtype}} | sections


slow = pytest.mark.slow
EVERY_WAY = pytest.mark.parametrize(
    ("config", "dtype"),
    [
        pytest.param("zero0", "fp32", marks=slow),
        pytest.param("zero1", "fp32", marks=slow),
        pytest.param("zero1", "bf16", marks=slow),
        pytest.param("zero2", "fp32", marks=slow),
        ("zero2", "bf16"),
        pytest.param("zero2_cpuoffload", "bf16", marks=slow),
        pytest.param("zero3", "fp32", marks=slow),
        ("zero3", "bf16"),
        pytest.param("zero3_cpuoffload", "bf16", marks=slow),
    ],
)


@pytest.fixture(scope="module")
def version_of(make_spec: SpecMaker, tiny_checkpoint: str) -> Callable[[str], PublishedShard]:
    """A version that differs from the base, by dtype."""
    return lambda dtype: perturbed_version(make_spec(**full("zero1", dtype)), tiny_checkpoint, seed=1)


@pytest.fixture
def start(
    make_spec: SpecMaker, tiny_checkpoint: str, process_group: None
) -> Callable[..., tuple[TrainerRank, list[GroupBatch]]]:
    """Makes a trainer rank that holds a version, and a batch drawn by that version."""

    def start(version: PublishedShard, **sections: Any) -> tuple[TrainerRank, list[GroupBatch]]:
        spec = make_spec(**sections)
        trainer = trainer_rank(spec, tiny_checkpoint)
        trainer.load_version(version)
        return trainer, draw_groups(spec, tiny_checkpoint, version)

    return start


Start = Callable[..., tuple[TrainerRank, list[GroupBatch]]]
VersionOf = Callable[[str], PublishedShard]


@EVERY_WAY
def test_replay_reproduces_sampling_and_a_step_changes_the_weights(
    start: Start, version_of: VersionOf, config: str, dtype: str
) -> None:
    trainer, groups = start(version_of(dtype), **full(config, dtype, algorithm=KL))
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert stats.maxima["mean_error"] <= 1e-3
    assert stats.maxima["ratio_deviation"] <= 1e-4
    # The version differs from the base.
    assert stats.sums["kl"] > 0
    before = trainer.version(0)
    assert before.sha256 == version_of(dtype).sha256
    assert trainer.commit()["grad_norm"] > 0
    after = trainer.version(1)
    changed = [name for name, tensor in after.tensors.items() if not torch.equal(tensor, before.tensors[name])]
    assert len(changed) > 0.9 * len(after.tensors)
    assert {tensor.dtype for tensor in after.tensors.values()} == {DTYPES[dtype]}


@pytest.mark.parametrize("config", slow_but(["zero3"], ["zero0", "zero2", "zero3"]))
def test_gradients_equal_those_of_plain_torch(
    start: Start, version_of: VersionOf, make_spec: SpecMaker, tiny_checkpoint: str, config: str
) -> None:
    sections = full(config, algorithm={"clip_range": 0.2, **KL}, optimizer={"max_grad_norm": 1e9})
    trainer, groups = start(version_of("fp32"), **sections)
    recorder = GradientRecorder(trainer)
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    expected, sums = reference_update(make_spec(**sections), tiny_checkpoint, version_of("fp32"), groups)
    assert len(expected) <= len(recorder.last)
    assert relative_distance(recorder.last[: len(expected)], expected) < 1e-4
    assert sums["kl"] > 0


@EVERY_WAY
def test_resuming_is_bitwise_equal_and_a_checkpoint_holds_no_copy(
    start: Start, version_of: VersionOf, tmp_path: Path, config: str, dtype: str
) -> None:
    sections = full(config, dtype, algorithm=KL, ema={"decay": 0.9, "every_num_optimizer_steps": 1})
    trainer, groups = start(version_of(dtype), **sections)

    def step(one: TrainerRank) -> str:
        one.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
        one.commit()
        version = one.version(1)
        assert version.evaluated is not None
        return version.sha256 + version.evaluated.sha256

    first = step(trainer)
    uri = str(tmp_path / "kept")
    num_bytes = trainer.save_checkpoint(uri, {"batch": 1})
    expected = step(trainer)
    assert expected != first
    resumed, _ = start(version_of(dtype), **sections)
    assert resumed.load_checkpoint(uri).client_state == {"batch": 1}
    assert step(resumed) == expected
    # Weights, master weights, two moments and the average; the reference would take as much again as the weights.
    num_trained = sum(tensor.numel() for tensor in resumed.version(1).tensors.values())
    weight_bytes = 4 if dtype == "fp32" else 2
    max_bytes_per_weight = weight_bytes + 4 + 8 + 4
    assert num_bytes < num_trained * max_bytes_per_weight * 1.02 + 200_000


@EVERY_WAY
def test_a_lent_lane_draws_the_rollout_lanes_bits_and_leaves_no_trace(
    start: Start, version_of: VersionOf, make_spec: SpecMaker, tiny_checkpoint: str, config: str, dtype: str
) -> None:
    version = version_of(dtype)
    sections = full(config, dtype, pipeline=TAG, deepspeed={"offload_idle_states": True})
    sampler = load_sampler(make_spec(**sections), tiny_checkpoint)
    sampler.pull(version)
    expected = generate_fragment(sampler)
    trainer, groups = start(version, **sections)
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=False)
    trainer.commit()
    trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
    before = copy_of(training_state(trainer))
    made = lend(trainer, version)
    assert_equal(before, copy_of(training_state(trainer)), f"{config} {dtype}")
    assert made.trajectories is not None and expected.trajectories is not None
    assert torch.equal(latents_of(made.trajectories), latents_of(expected.trajectories))
    # Between two loans the replica's weights are freed; they are bound again without another pull.
    second = lend_without_pull(trainer)
    assert second.trajectories is not None
    assert torch.equal(latents_of(second.trajectories), latents_of(expected.trajectories))


def lend_without_pull(trainer: TrainerRank) -> GeneratedFragment:
    assert trainer.sampler is not None
    trainer.switch(LaneRole.ROLLOUT)
    made = generate_fragment(trainer.sampler)
    trainer.switch(LaneRole.TRAINER)
    return made


@pytest.mark.parametrize(("config", "dtype"), [("zero2", "bf16"), pytest.param("zero3", "bf16", marks=slow)])
def test_stale_data_is_gated_by_the_version_that_drew_it(
    start: Start, version_of: VersionOf, tiny_checkpoint: str, config: str, dtype: str
) -> None:
    version = version_of(dtype)
    trainer, groups = start(version, **full(config, dtype, pipeline={"max_staleness": 1}))
    trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=0)
    trainer.commit()
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True, staleness=1, behaviour=version)
    assert stats.maxima["replay_ratio_deviation"] <= 1e-4
    assert stats.maxima["ratio_deviation"] > 1e-4


@pytest.mark.parametrize("tuning", ["lora", "full"])
def test_in_bf16_too_the_gate_detects_a_trainer_with_other_weights(
    start: Start, make_spec: SpecMaker, tiny_checkpoint: str, tuning: str
) -> None:
    sections = full("zero1", "bf16", tuning=tuning)
    version = perturbed_version(make_spec(**sections), tiny_checkpoint, seed=1)
    trainer, groups = start(version, **sections)
    bounds = make_spec(**sections).replay_bounds
    check_replay_gate(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True), bounds)
    trainer.abort()
    trainer.load_version(perturbed_version(make_spec(**sections), tiny_checkpoint, seed=2))
    with pytest.raises(ReplayGateError, match="sampling and replay must agree"):
        check_replay_gate(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True), bounds)


@pytest.mark.parametrize("config", slow_but(["zero3"], ["zero0", "zero2", "zero3"]))
def test_recomputed_blocks_give_the_same_gradients(start: Start, version_of: VersionOf, config: str) -> None:
    found = []
    for every in (0, 1):
        deepspeed = {"gradient_checkpointing": every, "overrides": ALL_SHARDED if config == "zero3" else []}
        trainer, groups = start(version_of("fp32"), **full(config, deepspeed=deepspeed, algorithm=KL))
        recorder = GradientRecorder(trainer)
        trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
        trainer.commit()
        found.append(recorder.last)
    assert found[0].norm() > 0
    assert relative_distance(found[1], found[0]) < 1e-6
