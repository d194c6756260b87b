"""Rollout, replay and training on an accelerator: the gate holds, noise is the CPU's, resuming is bitwise equal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from deepspeed.accelerator import get_accelerator

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.stacked import latents_of, next_latents_of
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.names import LaneRole
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.state_offload import StateOffloader
from worker.engine.types import GenerationRequest, GroupBatch, PublishedShard
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

pytestmark = pytest.mark.gpu

NUM_PAIRS = 24
STAGES = pytest.mark.parametrize("stage", [0, 1, 2, 3])
UNCOMPILED = {"compilation": "off"}
"""Of `performance`, where a spec would compile: the kit runs these tests in a minute, before anything that compiles."""
SpecMaker = Callable[..., RunSpec]


def one_step(trainer: TrainerRank, groups: list[GroupBatch], *, fresh: bool = False) -> dict[str, float]:
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=fresh)
    return {**stats.sums, **trainer.commit()}


@pytest.fixture
def adapter(tiny_checkpoint: str, make_spec: SpecMaker) -> PublishedShard:
    return perturbed_version(make_spec(), tiny_checkpoint, seed=1)


@STAGES
def test_the_replay_gate_holds_in_fp32(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None, stage: int
) -> None:
    spec = make_spec(deepspeed={"config": f"zero{stage}"})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
    trainer.load_version(adapter)
    check_replay_gate(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True), spec.replay_bounds)
    assert trainer.commit()["grad_norm"] > 0


@STAGES
def test_resuming_is_bitwise_equal_when_deterministic(
    tiny_checkpoint: str,
    make_spec: SpecMaker,
    adapter: PublishedShard,
    process_group: None,
    tmp_path: Path,
    stage: int,
) -> None:
    spec = make_spec(deepspeed={"config": f"zero{stage}"}, pipeline={"deterministic": True})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
    trainer.load_version(adapter)
    one_step(trainer, groups)
    trainer.save_checkpoint(str(tmp_path / "one"), {})
    expected = one_step(trainer, groups), trainer.version(2).sha256
    resumed = TrainerRank(spec, tiny_checkpoint, 0, 1)
    resumed.load_checkpoint(str(tmp_path / "one"))
    assert (one_step(resumed, groups), resumed.version(2).sha256) == expected


def test_an_accelerator_draws_the_cpus_noise_and_almost_its_pictures(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard
) -> None:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0)
    request = GenerationRequest(fragment=fragment, prompt=Prompt(text="a red square"), run_seed=3, prompt_index=0)
    made = []
    for device in ("cpu", None):
        sampler = Sampler.load(make_spec(), tiny_checkpoint, device=device)
        sampler.pull(adapter)
        made.append(sampler.generate(request))
    first, second = (fragment.trajectories for fragment in made)
    assert first is not None and second is not None
    assert torch.equal(latents_of(first)[:, 0], latents_of(second)[:, 0])
    torch.testing.assert_close(next_latents_of(first), next_latents_of(second), rtol=1e-3, atol=1e-3)
    assert np.abs(made[0].images.astype(int) - made[1].images.astype(int)).max() <= 2


@STAGES
def test_a_lent_lane_draws_the_rollout_lanes_bits_and_leaves_no_trace(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None, stage: int
) -> None:
    spec = make_spec(deepspeed={"config": f"zero{stage}"}, pipeline={"deterministic": True, "tag": "greedy"})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    found = []
    for is_lent in (True, False):
        trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
        trainer.load_version(adapter)
        trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
        if is_lent:
            assert trainer.sampler is not None
            trainer.switch(LaneRole.ROLLOUT)
            trainer.sampler.pull(adapter)
            fragment = groups[0].trajectories[0].fragment
            made = trainer.sampler.generate(
                GenerationRequest(fragment=fragment, prompt=spec.prompts.inline[0], run_seed=spec.seed, prompt_index=0)
            )
            assert made.trajectories is not None
            assert torch.equal(next_latents_of(made.trajectories), next_latents_of(groups[0].trajectories[0]))
            trainer.switch(LaneRole.TRAINER)
        trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
        found.append(trainer.version(1).sha256)
    assert found[0] == found[1]


def test_a_bf16_base_replays_close_to_what_it_drew(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None
) -> None:
    spec = make_spec(base_model={"dtype": "bf16"}, performance=UNCOMPILED)
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
    trainer.load_version(adapter)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert stats.maxima["ratio_deviation"] < 1e-2
    trainer.commit()


@STAGES
def test_idle_state_is_offloaded_and_reloaded_bit_for_bit(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None, stage: int
) -> None:
    spec = make_spec(deepspeed={"config": f"zero{stage}"}, pipeline={"deterministic": True})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    found = []
    for is_offloaded in (True, False):
        trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
        trainer.load_version(adapter)
        one_step(trainer, groups)
        trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
        if is_offloaded:
            offloader = StateOffloader(trainer._deepspeed_engine, trainer._policy.module)
            before = get_accelerator().memory_allocated()
            transfer = offloader.offload(with_base=stage == 3)
            # The allocator rounds each storage up, so at least as much is freed.
            assert before - get_accelerator().memory_allocated() >= transfer.num_bytes > 0
            offloader.reload()
            assert get_accelerator().memory_allocated() == before
        trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
        found.append(trainer.version(1).sha256)
    assert found[0] == found[1]


@pytest.mark.parametrize("config", [config for config in ZeroConfig if config.offloads_optimizer])
def test_an_offloaded_optimizer_takes_the_same_steps_and_lies_on_the_host(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None, config: ZeroConfig
) -> None:
    spec = make_spec(deepspeed={"config": config})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    norms = []
    for each in (spec, make_spec()):
        trainer = TrainerRank(each, tiny_checkpoint, 0, 1)
        trainer.load_version(adapter)
        norms.append(one_step(trainer, groups)["grad_norm"])
        if each is spec:
            states = trainer._deepspeed_engine.optimizer.optimizer.state.values()
            moments = [state["exp_avg"] for state in states]
            assert moments and all(moment.device.type == "cpu" for moment in moments)
    assert norms[0] == pytest.approx(norms[1], rel=1e-3)


@pytest.mark.parametrize("stage", [0, 3])
def test_recomputed_blocks_lower_the_peak_and_change_no_gradient(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedShard, process_group: None, stage: int
) -> None:
    peaks, norms = [], []
    for every in (0, 1):
        spec = make_spec(
            deepspeed={"config": f"zero{stage}", "gradient_checkpointing": every}, batch={"micro_batch_size": 12}
        )
        groups = draw_groups(spec, tiny_checkpoint, adapter)
        trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
        trainer.load_version(adapter)
        one_step(trainer, groups)
        get_accelerator().reset_peak_memory_stats()
        norms.append(one_step(trainer, groups)["grad_norm"])
        peaks.append(get_accelerator().max_memory_allocated())
    assert norms[1] == pytest.approx(norms[0], rel=1e-3)
    assert peaks[1] < peaks[0]


@pytest.mark.parametrize(("config", "dtype"), [("zero0", "fp32"), ("zero2", "bf16"), ("zero3", "bf16")])
def test_full_fine_tuning_trains_lends_and_publishes(
    tiny_checkpoint: str, make_spec: SpecMaker, process_group: None, config: str, dtype: str
) -> None:
    spec = make_spec(
        tuning="full",
        base_model={"dtype": dtype},
        deepspeed={"config": config, "offload_idle_states": True},
        pipeline={"tag": "greedy"},
        algorithm={"kl_coefficient": 0.1},
        performance=UNCOMPILED,
    )
    version = perturbed_version(spec, tiny_checkpoint, seed=1)
    groups = draw_groups(spec, tiny_checkpoint, version)
    trainer = TrainerRank(spec, tiny_checkpoint, 0, 1)
    trainer.load_version(version)
    check_replay_gate(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True), spec.replay_bounds)
    assert trainer.sampler is not None
    before = get_accelerator().memory_allocated()
    trainer.switch(LaneRole.ROLLOUT)
    assert trainer.sampler.pull(version).sha256 == version.sha256
    trainer.switch(LaneRole.TRAINER)
    assert get_accelerator().memory_allocated() <= before
    assert trainer.commit()["grad_norm"] > 0
    sampler = Sampler.load(spec, tiny_checkpoint)
    trained = trainer.version(1)
    assert sampler.pull(trained).sha256 == trained.sha256 != version.sha256
