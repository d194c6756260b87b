"""The points of a space, for any space: a grid has just its size, and draws lie within their bounds."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweeps.search_space import NoSuchPlace, draws, grid, grid_size, with_values
from sweeps.sweep_plan import PlanRefused, read_plan
from sweeps.sweep_ranges import ChoiceRange, FloatRange, IntRange, Range
from tests.web.sweeps.swept_runs import plan

numbers = st.floats(1e-6, 1e6)
choices = st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=4, unique=True).map(
    lambda values: ChoiceRange(values=tuple(values))
)
floats = st.builds(
    lambda kind, low, width, num: FloatRange(kind=kind, low=low, high=low + low * width, num_values=num),
    st.sampled_from(["uniform", "log_uniform"]),
    numbers,
    st.floats(0.1, 100),
    st.integers(2, 5),
)
integers = st.builds(
    lambda low, width, share: IntRange(kind="int", low=low, high=low + width, step=max(1, width * share // 10)),
    st.integers(-100, 100),
    st.integers(1, 5),
    st.integers(0, 10),
)
spaces = st.dictionaries(st.sampled_from(["a", "b.c", "d.e.f"]), choices | floats | integers, min_size=1, max_size=3)


def is_within(value: Any, values: Range) -> bool:
    match values:
        case ChoiceRange():
            return value in values.values
        case FloatRange():
            return values.low <= value <= values.high
        case IntRange():
            return values.low <= value <= values.high and (value - values.low) % values.step == 0


@settings(max_examples=25, deadline=None)
@given(space=spaces)
def test_a_grid_has_its_size_no_point_twice_and_nothing_out_of_bounds(space: dict[str, Range]) -> None:
    points = list(grid(space))
    assert len(points) == grid_size(space)
    assert len({tuple(point.items()) for point in points}) == len(points)
    assert all(is_within(point[field], values) for point in points for field, values in space.items())


@settings(max_examples=20, deadline=None)
@given(space=spaces, seed=st.integers(0, 2**32 - 1))
def test_draws_lie_within_bounds_and_follow_from_the_seed(space: dict[str, Range], seed: int) -> None:
    drawn = list(itertools.islice(draws(space, seed), 8))
    assert all(is_within(point[field], values) for point in drawn for field, values in space.items())
    assert drawn == list(itertools.islice(draws(space, seed), 8))


def test_a_log_uniform_grid_is_even_over_orders_of_magnitude_and_keeps_its_ends() -> None:
    space: dict[str, Range] = {"a": FloatRange(kind="log_uniform", low=1e-5, high=1e-2, num_values=4)}
    assert [point["a"] for point in grid(space)] == [1e-5, 1e-4, 1e-3, 1e-2]


def test_a_point_changes_the_settings_that_it_names_and_nothing_else() -> None:
    base = {"rewards": [{"name": "shape_match"}], "batch": {"group_size": 2}}
    made = with_values(base, {"rewards.0.weight": 2.0, "optimizer.learning_rate": 1e-3, "batch.group_size": 4})
    assert made == {
        "rewards": [{"name": "shape_match", "weight": 2.0}],
        "batch": {"group_size": 4},
        "optimizer": {"learning_rate": 1e-3},
    }
    assert base == {"rewards": [{"name": "shape_match"}], "batch": {"group_size": 2}}


@pytest.mark.parametrize("path", ["rewards.1.weight", "rewards.first.weight", "seed.of.all"])
def test_a_path_that_leads_nowhere_is_said(path: str) -> None:
    with pytest.raises(NoSuchPlace, match=path.rpartition(".")[0].partition(".")[0]):
        with_values({"rewards": [{"name": "shape_match"}], "seed": 1}, {path: 1})


RATE = "optimizer.learning_rate"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"space": {}}, "space"),
        ({"space": {"seed": {"kind": "choice", "values": [1, 2]}}}, "space"),
        ({"space": {RATE: {"kind": "choice", "values": []}}}, f"space.{RATE}.values"),
        ({"space": {RATE: {"kind": "choice", "values": [1, 1]}}}, f"space.{RATE}.values"),
        ({"space": {RATE: {"kind": "uniform", "low": 1, "high": 0.5, "num_values": 3}}}, f"space.{RATE}.high"),
        ({"space": {RATE: {"kind": "log_uniform", "low": 0, "high": 0.5}}}, f"space.{RATE}.low"),
        ({"space": {RATE: {"kind": "uniform", "low": 0, "high": 0.5}}}, f"space.{RATE}.num_values"),
        ({"space": {"lora.rank": {"kind": "int", "low": 4, "high": 8, "step": 5}}}, "space.lora.rank.step"),
        ({"space": {"Learning rate": {"kind": "choice", "values": [1]}}}, "space.Learning rate"),
        ({"space": {RATE: {"kind": "int", "low": 0, "high": 10**400}}}, f"space.{RATE}.high"),
        ({"space": {RATE: {"kind": "uniform", "low": -1e300, "high": 1}}}, f"space.{RATE}.low"),
        ({"space": {RATE: {"kind": "normal"}}}, f"space.{RATE}.kind"),
        (
            {
                "space": {
                    "optimizer": {"kind": "choice", "values": [{}]},
                    RATE: {"kind": "choice", "values": [1]},
                }
            },
            "space",
        ),
        ({"sampler": {"kind": "random"}}, "sampler.num_points"),
        ({"sampler": {"kind": "grid", "num_points": 3}}, "sampler.num_points"),
        ({"pruner": {"kind": "successive_halving"}}, "pruner.min_samples"),
        ({"num_seeds": 0}, "num_seeds"),
        ({"budget_gpu_hours": 0}, "budget_gpu_hours"),
        ({"spec": {"seed": -1}}, "spec.seed"),
        ({"nmae": "typo"}, "nmae"),
        ({"name": "a\x00b"}, "name"),
    ],
)
def test_what_is_no_plan_is_refused_by_field(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        read_plan(plan(**fields))
    assert list(refused.value.errors) == [path]
    assert "[key]" not in str(refused.value)
