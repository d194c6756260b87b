"""`RunSpec` refuses what cannot run, in words that say what to do, and survives YAML and JSON unchanged."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from worker.contracts.run_spec import RunSpec

PROMPTS = [f"a prompt {number}" for number in range(12)]


def document(**sections: Any) -> dict[str, Any]:
    return {"prompts": {"inline": PROMPTS}, "rewards": [{"name": "shape_match"}], **sections}


def refusal(**sections: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        RunSpec.model_validate(document(**sections))
    return str(caught.value)


@st.composite
def valid_documents(draw: st.DrawFn) -> dict[str, Any]:
    groups_per_minibatch = draw(st.integers(1, 4))
    num_minibatches = draw(st.integers(1, 3))
    fragment_size = draw(st.integers(1, 4))
    denoising_steps = draw(st.integers(2, 12))
    return document(
        batch={
            "num_prompts_per_batch": groups_per_minibatch * num_minibatches,
            "group_size": fragment_size * draw(st.integers(2, 4)),
            "num_minibatches": num_minibatches,
            "num_epochs_per_batch": draw(st.integers(1, 4)),
            "micro_batch_size": draw(st.integers(1, 64)),
            "fragment_size": fragment_size,
        },
        sampling={
            "num_denoising_steps": denoising_steps,
            "sde_start": draw(st.integers(0, denoising_steps - 2)),
            "sde_type": draw(st.sampled_from(["flow", "cps"])),
        },
        lanes={"num_trainer": draw(st.integers(1, 5))},
        seed=draw(st.integers(0, 2**32)),
    )


@given(valid_documents())
def test_yaml_and_json_round_trips_change_nothing(spec_document: dict[str, Any]) -> None:
    spec = RunSpec.model_validate(spec_document)
    assert RunSpec.from_yaml(spec.to_yaml()) == spec
    assert RunSpec.model_validate_json(spec.model_dump_json()) == spec


@given(valid_documents())
def test_the_algebra_adds_up(spec_document: dict[str, Any]) -> None:
    spec = RunSpec.model_validate(spec_document)
    algebra = spec.algebra
    assert algebra.num_fragments * algebra.fragment_size == algebra.num_trajectories
    assert algebra.num_groups_per_minibatch * algebra.num_minibatches == algebra.num_groups
    minibatches = [algebra.minibatch_of(group) for group in range(algebra.num_groups)]
    assert minibatches == sorted(minibatches)
    assert set(minibatches) == set(range(algebra.num_minibatches))
    capacity = algebra.num_micro_batches_per_optimizer_step * algebra.micro_batch_size
    assert capacity >= algebra.num_pairs_per_optimizer_step
    assert str(algebra.num_optimizer_steps_per_batch) in algebra.describe()


def test_the_algebra_counts_in_proper_plurals() -> None:
    batch = {"num_prompts_per_batch": 4, "num_minibatches": 2, "num_epochs_per_batch": 3}
    text = RunSpec.model_validate(document(batch=batch)).algebra.describe()
    assert "trajectories a batch" in text and "2 mini-batches × 3 epochs = 6 optimizer steps" in text


def test_the_final_denoising_step_is_never_trained() -> None:
    spec = RunSpec.model_validate(document(sampling={"num_denoising_steps": 6}))
    assert spec.sampling.sde_indices == (0, 1, 2, 3, 4)


def test_an_unknown_field_is_an_error() -> None:
    assert "Extra inputs are not permitted" in refusal(batch={"group_sise": 8})


def test_a_group_of_one_is_refused_by_name_and_bound() -> None:
    message = refusal(batch={"group_size": 1})
    assert "batch.group_size" in message
    assert "greater than or equal to 2" in message


def test_minibatches_that_do_not_divide_are_refused_with_the_nearest_that_do() -> None:
    message = refusal(batch={"num_prompts_per_batch": 6, "num_minibatches": 4})
    assert "`batch.num_minibatches` must divide" in message
    assert "use 3 or 6" in message


def test_fragments_that_do_not_divide_the_group_are_refused_with_the_nearest_that_do() -> None:
    message = refusal(batch={"group_size": 10, "fragment_size": 4})
    assert "`batch.fragment_size` must divide" in message
    assert "use 2 or 5" in message


def test_more_prompts_a_batch_than_prompts_is_refused() -> None:
    assert "must be ≤ 12 (the prompts given), got 13" in refusal(batch={"num_prompts_per_batch": 13})


def test_an_sde_window_over_the_final_denoising_step_is_refused() -> None:
    message = refusal(sampling={"num_denoising_steps": 6, "sde_start": 3, "num_sde_steps": 3})
    assert "`sampling.num_sde_steps` must be ≤ 2, got 3" in message


def test_only_watched_rewards_are_refused() -> None:
    assert "nothing to train on" in refusal(rewards=[{"name": "shape_match", "watched": True}])


def test_a_reward_named_twice_is_refused() -> None:
    assert "name each reward once" in refusal(rewards=[{"name": "shape_match"}, {"name": "shape_match"}])


@pytest.mark.parametrize("prompts", [{}, {"inline": ["a"], "prompt_set": "b"}])
def test_prompts_come_from_exactly_one_source(prompts: dict[str, Any]) -> None:
    assert "must give either `inline` or `prompt_set`" in refusal(prompts=prompts)


def test_yaml_that_is_no_mapping_says_so() -> None:
    with pytest.raises(ValueError, match="must be a mapping of sections, got a list of 2"):
        RunSpec.from_yaml("- a\n- b")


def test_broken_yaml_says_where() -> None:
    with pytest.raises(ValueError, match="line 2, column 1: a value is missing, or a bracket is not closed"):
        RunSpec.from_yaml("prompts: [\n")


def test_every_field_has_help_that_is_more_than_its_name() -> None:
    """The form, the JSON schema and the API's documentation show it: what the field does, what is usual, and why."""
    schema = RunSpec.model_json_schema()
    settings = {name for name in schema["$defs"] if name.endswith(("Spec", "Settings"))}
    sections = {path for path, field in schema["properties"].items() if "$ref" in field or "discriminator" in field}
    fields = {path: field for path, field in schema["properties"].items() if path not in sections}
    for name in settings:
        properties = schema["$defs"][name]["properties"].items()
        fields |= {f"{name}.{key}": field for key, field in properties if "const" not in field}
    without = [path for path, field in fields.items() if len(field.get("description", "").split(".")) < 3]
    assert without == [], "say what is usual, and when to change it, after the first sentence"
