"""Which denoising steps a group is trained on: shared by its members, seeded by its position, as each algorithm
says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.registry import steps_of_group
from worker.engine.transport.parts import micro_batches_of_group
from worker.scheduling.core.batching import shares_in_step


def spec_with(algorithm: dict[str, Any], **sampling: Any) -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
            "rewards": [{"name": "shape_match"}],
            "algorithm": algorithm,
            "sampling": {"num_denoising_steps": 10, **sampling},
        }
    )


def starts(spec: RunSpec, batches: range, prompt_index: int = 0) -> list[int]:
    return [steps_of_group(spec, batch, prompt_index).trained[0] for batch in batches]


@given(start=st.integers(0, 4), size=st.integers(1, 4), batch=st.integers(0, 99), prompt_index=st.integers(0, 99))
def test_fast_windows_are_consecutive_and_within_the_steps_of_the_spec(
    start: int, size: int, batch: int, prompt_index: int
) -> None:
    spec = spec_with({"name": "flow_grpo_fast", "window_size": size}, sde_start=start, num_sde_steps=4)
    steps = steps_of_group(spec, batch, prompt_index)
    assert steps.stochastic == steps.trained == tuple(range(steps.trained[0], steps.trained[0] + size))
    assert set(steps.trained) <= set(spec.sampling.sde_indices)
    assert len(steps.trained) == spec.algebra.num_trained_denoising_steps


def test_fast_windows_differ_by_batch_and_prompt_and_are_the_same_for_the_same_position() -> None:
    spec = spec_with({"name": "flow_grpo_fast"})
    by_batch = starts(spec, range(200))
    assert by_batch == starts(spec, range(200))
    assert set(by_batch) == set(range(8))
    assert by_batch != starts(spec, range(200), prompt_index=1)
    first = spec_with({"name": "flow_grpo_fast", "position": "first"}, sde_start=2)
    assert set(starts(first, range(40))) == {2}


def test_the_progressive_window_moves_by_its_stride_and_starts_again() -> None:
    spec = spec_with({"name": "mix_grpo", "window_size": 4, "stride": 3, "shift_every_num_batches": 2})
    assert starts(spec, range(8)) == [0, 0, 3, 3, 5, 5, 0, 0]
    assert starts(spec, range(8)) == starts(spec, range(8), prompt_index=5)


@given(size=st.integers(1, 9), stride=st.integers(1, 9), start=st.integers(0, 8), data=st.data())
def test_a_progressive_window_stays_inside_and_covers_every_step(
    size: int, stride: int, start: int, data: st.DataObject
) -> None:
    """In any schedule and from any start, provided that its stride is at most its size."""
    num_steps = data.draw(st.integers(size, size + 12))
    algorithm = {"name": "mix_grpo", "window_size": size, "stride": stride, "shift_every_num_batches": 1}
    spec = spec_with(algorithm, num_denoising_steps=start + num_steps + 1, sde_start=start)
    assert len(spec.sampling.sde_indices) == num_steps
    windows = [steps_of_group(spec, batch, 0) for batch in range(2 * num_steps)]
    for steps in windows:
        assert steps.stochastic == steps.trained == tuple(range(steps.trained[0], steps.trained[0] + size))
        assert set(steps.trained) <= set(spec.sampling.sde_indices)
    assert windows[0].trained[0] == start
    if stride <= size:
        assert {index for steps in windows for index in steps.trained} == set(spec.sampling.sde_indices)


def test_by_default_the_window_moves_as_in_the_authors_script() -> None:
    """25 denoising steps, 4 of them stochastic, 1 further every 25 iterations."""
    spec = spec_with({"name": "mix_grpo"}, num_denoising_steps=25)
    assert starts(spec, range(0, 100, 25)) == [0, 1, 2, 3]
    assert starts(spec, range(24, 100, 25)) == [0, 1, 2, 3]
    assert starts(spec, range(19 * 25, 23 * 25, 25)) == [19, 20, 0, 1]
    assert len(steps_of_group(spec, 0, 0).trained) == 4


def test_the_random_window_of_mix_grpo_is_shared_by_the_batch_and_kept_between_moves() -> None:
    spec = spec_with({"name": "mix_grpo", "strategy": "random", "shift_every_num_batches": 5})
    drawn = starts(spec, range(50))
    assert drawn == starts(spec, range(50), prompt_index=3)
    assert all(len(set(drawn[move : move + 5])) == 1 for move in range(0, 50, 5))
    assert len(set(drawn)) > 2


def test_dance_trains_some_of_the_stochastic_steps() -> None:
    spec = spec_with({"name": "dance_grpo", "timestep_fraction": 0.6}, sde_type="dance")
    trained = [steps_of_group(spec, batch, 0) for batch in range(30)]
    for steps in trained:
        assert steps.stochastic == tuple(range(9))
        assert steps.trained == tuple(sorted(set(steps.trained)))
        assert len(steps.trained) == 5
    assert {index for steps in trained for index in steps.trained} == set(range(9))


def test_reward_feedback_starts_at_a_late_step_and_has_no_stochastic_ones() -> None:
    refl = spec_with({"name": "refl", "num_late_steps": 3})
    assert {steps_of_group(refl, batch, 0).trained for batch in range(30)} == {(7,), (8,), (9,)}
    flow = spec_with({"name": "reward_flow", "num_gradient_steps": 4})
    assert steps_of_group(flow, 3, 1).trained == (6,)
    assert steps_of_group(flow, 3, 1).stochastic == steps_of_group(refl, 0, 0).stochastic == ()


def test_the_forward_process_stores_no_step() -> None:
    for name in ("diffusion_nft", "diffusion_dpo"):
        steps = steps_of_group(spec_with({"name": name}), 0, 0)
        assert steps.stochastic == steps.trained == ()


@given(num_ranks=st.integers(1, 5), num_preferences=st.integers(1, 4), tsp=st.booleans(), size=st.integers(1, 9))
def test_every_preference_pair_is_trained_once_by_one_rank(
    num_ranks: int, num_preferences: int, tsp: bool, size: int
) -> None:
    algorithm = {"name": "diffusion_dpo", "num_preferences": num_preferences, "num_noise_levels": 3}
    spec = spec_with(algorithm)
    batch = spec.batch.model_copy(update={"micro_batch_size": size})
    algebra = spec.model_copy(update={"batch": batch}).algebra
    micro_batches = micro_batches_of_group(algebra)
    taken = [key for share in shares_in_step(algebra, (0, 1), world_size=num_ranks, tsp=tsp) for key in share]
    seen = sorted((key.group, pair) for key in taken for pair in micro_batches[key.index].pairs)
    assert seen == [(group, pair) for group in (0, 1) for pair in range(num_preferences * 3)]
