"""Rollout, replay and training on a real device: the gate holds, noise is the CPU's, resuming is bitwise equal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.engine.frozen import draw_groups, perturbed_adapter
from worker.contracts.names import Role
from worker.contracts.run_spec import RunSpec
from worker.engine.observe.gates import check_replay_gate
from worker.engine.rollout.engine import RolloutEngine
from worker.engine.trainer.engine import TrainerEngine
from worker.engine.types import GenerationRequest, GroupBatch, PublishedAdapter
from worker.pipeline.types import Fragment, FragmentKey, Purpose

pytestmark = pytest.mark.gpu

NUM_PAIRS = 24
STAGES = pytest.mark.parametrize("stage", [0, 1, 2])
SpecMaker = Callable[..., RunSpec]


def one_step(trainer: TrainerEngine, groups: list[GroupBatch], *, fresh: bool = False) -> dict[str, float]:
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=fresh)
    return {**stats.sums, **trainer.commit()}


@pytest.fixture
def adapter(tiny_checkpoint: str, make_spec: SpecMaker) -> PublishedAdapter:
    return perturbed_adapter(make_spec(), tiny_checkpoint, seed=1)


@STAGES
def test_the_replay_gate_holds_in_fp32(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedAdapter, process_group: None, stage: int
) -> None:
    spec = make_spec(deepspeed={"zero_stage": stage})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerEngine(spec, tiny_checkpoint, 0, 1)
    trainer.load_adapter(adapter)
    check_replay_gate(trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True), spec.replay_gate)
    assert trainer.commit()["grad_norm"] > 0


@STAGES
def test_resuming_is_bitwise_equal_when_deterministic(
    tiny_checkpoint: str,
    make_spec: SpecMaker,
    adapter: PublishedAdapter,
    process_group: None,
    tmp_path: Path,
    stage: int,
) -> None:
    spec = make_spec(deepspeed={"zero_stage": stage}, pipeline={"deterministic": True})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerEngine(spec, tiny_checkpoint, 0, 1)
    trainer.load_adapter(adapter)
    one_step(trainer, groups)
    trainer.save_checkpoint(str(tmp_path / "one"), {})
    expected = one_step(trainer, groups), trainer.adapter(2).sha256
    resumed = TrainerEngine(spec, tiny_checkpoint, 0, 1)
    resumed.load_checkpoint(str(tmp_path / "one"))
    assert (one_step(resumed, groups), resumed.adapter(2).sha256) == expected


def test_an_accelerator_draws_the_cpus_noise_and_almost_its_pictures(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedAdapter
) -> None:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0)
    request = GenerationRequest(fragment=fragment, prompt="a red square", run_seed=3, prompt_index=0)
    made = []
    for device in ("cpu", None):
        engine = RolloutEngine.load(make_spec(), tiny_checkpoint, device=device)
        engine.pull(adapter)
        made.append(engine.generate(request))
    first, second = (fragment.trajectories for fragment in made)
    assert first is not None and second is not None
    assert torch.equal(first.latents[:, 0], second.latents[:, 0])
    torch.testing.assert_close(first.next_latents, second.next_latents, rtol=1e-3, atol=1e-3)
    assert np.abs(made[0].images.astype(int) - made[1].images.astype(int)).max() <= 2


@STAGES
def test_a_lent_lane_draws_the_rollout_lanes_bits_and_leaves_no_trace(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedAdapter, process_group: None, stage: int
) -> None:
    spec = make_spec(deepspeed={"zero_stage": stage}, pipeline={"deterministic": True, "tag": "greedy"})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    found = []
    for is_lent in (True, False):
        trainer = TrainerEngine(spec, tiny_checkpoint, 0, 1)
        trainer.load_adapter(adapter)
        trainer.accumulate(groups[:1], num_pairs_total=NUM_PAIRS, fresh=False)
        if is_lent:
            assert trainer.generator is not None
            trainer.switch(Role.ROLLOUT)
            trainer.generator.pull(adapter)
            fragment = groups[0].trajectories[0].fragment
            made = trainer.generator.generate(
                GenerationRequest(fragment=fragment, prompt=spec.prompts.inline[0], run_seed=spec.seed, prompt_index=0)
            )
            assert made.trajectories is not None
            assert torch.equal(made.trajectories.next_latents, groups[0].trajectories[0].next_latents)
            trainer.switch(Role.TRAINER)
        trainer.accumulate(groups[1:], num_pairs_total=NUM_PAIRS, fresh=False)
        trainer.commit()
        found.append(trainer.adapter(1).sha256)
    assert found[0] == found[1]


def test_a_bf16_base_replays_close_to_what_it_drew(
    tiny_checkpoint: str, make_spec: SpecMaker, adapter: PublishedAdapter, process_group: None
) -> None:
    spec = make_spec(base_model={"dtype": "bf16"})
    groups = draw_groups(spec, tiny_checkpoint, adapter)
    trainer = TrainerEngine(spec, tiny_checkpoint, 0, 1)
    trainer.load_adapter(adapter)
    stats = trainer.accumulate(groups, num_pairs_total=NUM_PAIRS, fresh=True)
    assert stats.maxima["ratio_deviation"] < 1e-2
    trainer.commit()
