"""All randomness of a trajectory follows from its position in the run."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.rollout.noise import initial_noise, step_noise, trajectory_seed
from worker.scheduling.core.messages import Purpose

TrajectoryPosition = tuple[int, Purpose, int, int, int]

positions = st.tuples(
    st.integers(0, 2**31),
    st.sampled_from([Purpose.TRAIN]),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(0, 64),
)


@given(one=positions, other=positions)
def test_different_positions_have_different_seeds_and_equal_ones_the_same(
    one: TrajectoryPosition, other: TrajectoryPosition
) -> None:
    assert (trajectory_seed(*one) == trajectory_seed(*other)) == (one == other)


@given(position=positions)
def test_seeds_are_exact_in_json_and_javascript(position: TrajectoryPosition) -> None:
    assert 0 <= trajectory_seed(*position) < 2**53


def test_a_position_keeps_its_seed_over_releases() -> None:
    """A resumed run must draw the noise it would have drawn: changing this number breaks every checkpoint."""
    assert trajectory_seed(0, Purpose.TRAIN, 0, 0, 0) == 3945556087978818


@given(position=positions, draws=st.lists(st.integers(0, 1000), min_size=2, max_size=4, unique=True))
def test_a_group_that_is_drawn_again_has_noise_of_its_own(position: TrajectoryPosition, draws: list[int]) -> None:
    assert len({trajectory_seed(*position, draw=draw) for draw in draws}) == len(draws)
    assert trajectory_seed(*position, draw=0) == trajectory_seed(*position)


def test_held_out_seeds_do_not_depend_on_the_batch_and_are_never_trained_on() -> None:
    first = trajectory_seed(1, Purpose.EVALUATE, 0, 2, 3)
    assert first == trajectory_seed(1, Purpose.EVALUATE, 17, 2, 3)
    assert first not in {trajectory_seed(1, Purpose.TRAIN, batch, 2, 3) for batch in range(100)}


def test_a_members_noise_is_the_same_bits_alone_and_in_any_batch() -> None:
    seeds = [11, 22, 33]
    together = initial_noise(seeds, (16, 64))
    for row, seed in zip(together, seeds, strict=True):
        assert torch.equal(row, initial_noise([seed], (16, 64))[0])
    assert torch.equal(step_noise(seeds, 4, (5,))[1], step_noise([22], 4, (5,))[0])


def test_denoising_steps_draw_independent_noise() -> None:
    drawn = [initial_noise([5], (1000,)), *(step_noise([5], index, (1000,)) for index in range(3))]
    correlations = torch.corrcoef(torch.cat(drawn))
    assert (correlations - torch.eye(4)).abs().max() < 0.15


def test_noise_is_standard_normal() -> None:
    drawn = initial_noise(range(100), (1000,))
    assert abs(float(drawn.mean())) < 0.02
    assert abs(float(drawn.std()) - 1) < 0.02
