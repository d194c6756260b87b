"""From trajectories to an optimizer step, for algorithms that do not train on every stored transition."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.stacked import latents_of, next_latents_of
from tests.engine.trainer.two_ranks_worker import ZERO_3
from tests.slow_params import slow_but
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.engine.errors import MinibatchError
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.models.lora import lora_disabled
from worker.engine.rollout.noise import forward_noise, forward_position
from worker.engine.types import GroupBatch

SLOW = pytest.mark.slow
NFT = {"name": "diffusion_nft", "num_noise_levels": 3, "kl_coefficient": 0.2, "beta": 0.5}
DPO = {"name": "diffusion_dpo", "num_noise_levels": 3, "num_preferences": 2, "beta": 5.0}
FAST = {"name": "flow_grpo_fast", "window_size": 2, "clip_range": 0.2}
FLOW = {"name": "reward_flow", "num_gradient_steps": 2, "kl_coefficient": 0.3}
DANCE = {"name": "dance_grpo", "clip_range": 0.2, "timestep_fraction": 0.7}


@pytest.mark.parametrize("algorithm", slow_but([NFT, FAST], [NFT, DPO, FAST]), ids=lambda algorithm: algorithm["name"])
def test_groups_that_arrive_one_at_a_time_give_bitwise_the_same_step(
    make_setup: SetupMaker, algorithm: dict[str, Any]
) -> None:
    setup = make_setup(algorithm=algorithm)
    together, separate = setup.trainer(), setup.trainer()
    setup.accumulate(together)
    for group in setup.groups:
        setup.accumulate(separate, [group])
    assert together.commit() == separate.commit()
    assert together.version(1).sha256 == separate.version(1).sha256 != setup.version.sha256


@pytest.mark.parametrize("algorithm", slow_but([DPO], [NFT, DPO]), ids=lambda algorithm: algorithm["name"])
def test_the_size_of_micro_batches_does_not_change_the_loss(make_setup: SetupMaker, algorithm: dict[str, Any]) -> None:
    drawn = make_setup(algorithm=algorithm)
    losses = []
    for size in (1, 5, 12):
        batch = drawn.spec.batch.model_copy(update={"micro_batch_size": size})
        setup = replace(drawn, spec=drawn.spec.model_copy(update={"batch": batch}))
        losses.append(setup.accumulate(setup.trainer()).sums["loss"])
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


def test_nfts_loss_is_the_formula_on_the_seeded_noise(make_setup: SetupMaker) -> None:
    """Computed in numpy for every sample and noise level; in the first update v = v_old."""
    setup = make_setup(algorithm=NFT)
    trainer = setup.trainer()
    total = 0.0
    for group in setup.groups:
        total += sum(
            nft_loss(trainer._model, group, member, level, setup.spec.sampling)
            for member in range(4)
            for level in range(3)
        )
    assert setup.accumulate(trainer).sums["loss"] == pytest.approx(total, rel=1e-4)


def nft_loss(model: Any, group: GroupBatch, member: int, level: int, sampling: Any) -> float:
    trajectories = group.trajectories[0]
    assert trajectories.clean is not None
    seed, clean = [trajectories.seeds[member]], trajectories.clean[member].numpy().astype(np.float64)
    schedule = trajectories.sigmas.numpy().astype(np.float64)
    position = float(forward_position(seed, 0, [level], 3)[0]) * (len(schedule) - 1)
    sigma = float(np.interp(position, np.arange(len(schedule)), schedule))
    noise = forward_noise(seed, 0, [level], clean.shape)[0].numpy().astype(np.float64)
    noisy = (1 - sigma) * clean + sigma * noise
    given = torch.from_numpy(noisy).float()[None]
    conditioning = model.conditioning(group.trajectories[0].prompt, sampling, training=True)
    with torch.no_grad():
        velocity = model.predict_velocity(given, torch.tensor([sigma]).float(), conditioning)[0].numpy()
        with lora_disabled(model.transformer):
            reference = model.predict_velocity(given, torch.tensor([sigma]).float(), conditioning)[0].numpy()
    deviation = noisy - sigma * velocity - clean
    error = (deviation**2).mean() / max(np.abs(deviation).mean(), 1e-5)
    # (r L + (1 - r) L) A_max / beta + c mean((v - v_reference)²).
    return float(error * 5.0 / 0.5 + 0.2 * ((velocity - reference) ** 2).mean())


def test_the_forward_process_draws_new_noise_for_each_step(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=NFT, optimizer={"learning_rate": 1e-12})
    trainer = setup.trainer()
    first = setup.accumulate(trainer).sums["loss"]
    trainer.commit()
    assert setup.accumulate(trainer).sums["loss"] != pytest.approx(first, rel=1e-4)


def test_trajectories_carry_what_the_algorithm_needs_alone(make_setup: SetupMaker) -> None:
    rewards = [{"name": "shape_match"}]
    nft, fast, feedback = (
        make_setup(algorithm=algorithm, rewards=rewards).groups[0].trajectories[0]
        for algorithm in (NFT, FAST, {"name": "reward_flow", "num_gradient_steps": 2})
    )
    assert not nft.states and not nft.log_probs.numel()
    assert nft.clean is not None and nft.clean.shape == (4, 16, 16) and not nft.means
    assert latents_of(fast).shape == next_latents_of(fast).shape == (4, 2, 16, 16) and len(fast.states) == 3
    assert fast.clean is None and fast.log_probs.shape == (4, 2)
    assert latents_of(feedback).shape == (4, 1, 16, 16) and feedback.sde_indices == (2,)
    assert sorted(feedback.states) == [2] and not feedback.log_probs.numel()


def test_means_are_carried_by_all_mini_batches_where_they_are_trained_on(make_setup: SetupMaker) -> None:
    batch = {"num_minibatches": 2}
    guard = make_setup(algorithm={"name": "grpo_guard"}, batch=batch)
    plain = make_setup(algorithm={"name": "flow_grpo"}, batch=batch)
    assert [bool(group.trajectories[0].means) for group in guard.groups] == [True, True]
    assert [bool(group.trajectories[0].means) for group in plain.groups] == [True, False]


@pytest.mark.parametrize("name", ["grpo_guard", "flow_dppo"])
def test_the_first_update_of_old_mean_algorithms_passes_the_gate(make_setup: SetupMaker, name: str) -> None:
    setup = make_setup(algorithm={"name": name})
    trainer = setup.trainer()
    stats = setup.accumulate(trainer)
    check_replay_gate(stats, setup.spec.replay_bounds)
    assert stats.sums["ratio"] == pytest.approx(stats.num_pairs)
    assert trainer.commit()["grad_norm"] > 0


def test_dance_starts_a_group_from_one_noise_unless_the_spec_says_otherwise(make_setup: SetupMaker) -> None:
    algorithm = {**DANCE, "timestep_fraction": 1.0}
    shared = latents_of(make_setup(algorithm=algorithm, sampling={"sde_type": "dance"}).groups[0].trajectories[0])[:, 0]
    assert all(torch.equal(row, shared[0]) for row in shared)
    different = make_setup(algorithm={**algorithm, "shared_initial_noise": False}, sampling={"sde_type": "dance"})
    latents = latents_of(different.groups[0].trajectories[0])[:, 0]
    assert torch.equal(latents[0], shared[0]) and not torch.equal(latents[1], shared[1])


def test_stale_samples_of_the_forward_process_need_no_gate(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=NFT, pipeline={"max_staleness": 1})
    trainer = setup.trainer()
    stats = setup.accumulate(trainer, staleness=1, behaviour=setup.version)
    assert set(stats.maxima) == set() and trainer.commit()["grad_norm"] > 0


def test_groups_of_another_size_are_refused(make_setup: SetupMaker) -> None:
    setup, other = make_setup(algorithm=DPO), make_setup(algorithm=DPO, batch={"group_size": 6})
    with pytest.raises(MinibatchError, match="an advantage for each of its 4 trajectories, got 6"):
        setup.accumulate(setup.trainer(), other.groups[:1])


@pytest.mark.parametrize("algorithm", slow_but([NFT], [NFT, DPO]), ids=lambda algorithm: algorithm["name"])
def test_resuming_the_forward_process_is_bitwise_equal(
    make_setup: SetupMaker, algorithm: dict[str, Any], tmp_path: Path
) -> None:
    setup = make_setup(algorithm=algorithm, ema={"decay": 0.5, "every_num_optimizer_steps": 2})
    trainer = setup.trainer()
    for _ in range(3):
        setup.step(trainer)
    trainer.save_checkpoint(str(tmp_path / "three"), {})
    expected = [setup.step(trainer) for _ in range(3)]
    resumed = setup.trainer()
    resumed.load_checkpoint(str(tmp_path / "three"))
    assert [setup.step(resumed) for _ in range(3)] == expected
    first, second = trainer.version(0).evaluated, resumed.version(0).evaluated
    assert first is not None and second is not None
    assert first.sha256 == second.sha256


@pytest.mark.parametrize("stage", [pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3])
def test_older_policy_and_average_are_the_same_in_every_zero_stage(
    make_setup: SetupMaker, stage: int, tmp_path: Path
) -> None:
    """After a resume too, since a checkpoint holds the shadow weights."""
    sections: dict[str, Any] = {"algorithm": NFT, "ema": {"decay": 0.5, "every_num_optimizer_steps": 1}}
    plain, partitioned = make_setup(**sections), make_setup(**sections, deepspeed={"config": f"zero{stage}"})
    expected, trainer, resumed = plain.trainer(), partitioned.trainer(), partitioned.trainer()
    for one in (expected, trainer):
        plain.step(one)
    trainer.save_checkpoint(str(tmp_path / "one"), {})
    resumed.load_checkpoint(str(tmp_path / "one"))
    for one in (expected, resumed):
        plain.step(one)
    wanted, found = expected.version(2), resumed.version(2)
    assert wanted.evaluated is not None and found.evaluated is not None
    for version, other in ((wanted, found), (wanted.evaluated, found.evaluated)):
        for name, tensor in version.tensors.items():
            torch.testing.assert_close(other.tensors[name], tensor, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "algorithm",
    slow_but([FLOW], [DPO, FLOW]),
    ids=lambda algorithm: algorithm["name"],
)
def test_blocks_recomputed_in_zero_3_keep_the_gradients_of_all_forward_passes_of_a_backward(
    make_setup: SetupMaker, algorithm: dict[str, Any]
) -> None:
    sections = {"rewards": [{"name": "shape_match"}], "optimizer": {"max_grad_norm": 1e9}}
    plain = make_setup(algorithm=algorithm, **sections)
    section = DeepSpeedSpec.model_validate(ZERO_3 | {"gradient_checkpointing": 1})
    norms = []
    for setup in (plain, replace(plain, spec=plain.spec.model_copy(update={"deepspeed": section}))):
        trainer = setup.trainer()
        setup.accumulate(trainer)
        norms.append(trainer.commit()["grad_norm"])
    assert norms[1] == pytest.approx(norms[0], rel=1e-5)
