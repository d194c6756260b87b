import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.run_spec import RunSpec
from worker.engine.control.prompt_schedule import PromptSchedule, prompt_order
from worker.scheduling.core.messages import FragmentKey, Purpose


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 200), st.integers(0, 2**32))
def test_a_batch_never_repeats_a_prompt(num_prompts: int, num_per_batch: int, batch: int, seed: int) -> None:
    num_per_batch = min(num_prompts, num_per_batch)
    order = prompt_order(seed=seed, batch=batch, num_prompts=num_prompts, num_prompts_per_batch=num_per_batch)
    assert len(set(order)) == num_per_batch
    assert set(order) <= set(range(num_prompts))


def test_a_pass_visits_every_prompt_once_and_each_pass_in_another_order() -> None:
    def one_pass(first: int) -> list[int]:
        batches = range(first, first + 3)
        return [i for b in batches for i in prompt_order(seed=7, batch=b, num_prompts=18, num_prompts_per_batch=6)]

    assert sorted(one_pass(0)) == sorted(one_pass(3)) == list(range(18))
    assert one_pass(0) != one_pass(3)


def test_a_set_smaller_than_a_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="must be ≤ 2"):
        prompt_order(seed=0, batch=0, num_prompts=2, num_prompts_per_batch=3)


def test_each_purpose_has_prompts_of_its_own() -> None:
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a", "b"]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {"num_prompts_per_batch": 2},
            "evaluation": {"prompts": ["held out"]},
        }
    )
    schedule = PromptSchedule(spec, ("a", "b"))
    schedule.requested = ("mine",)
    assert schedule.find(FragmentKey(Purpose.EVALUATE, 0, 0, 0)) == (0, "held out")
    assert schedule.find(FragmentKey(Purpose.REQUEST, 5, 0, 0)) == (0, "mine")
    assert {schedule.find(FragmentKey(Purpose.TRAIN, 4, group, 0))[1] for group in (0, 1)} == {"a", "b"}
