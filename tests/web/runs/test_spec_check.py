import re
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Project, User
from catalog.services import create_prompt_set
from runs.spec_check import check_spec
from worker.contracts.prompts import parse_prompts
from worker.contracts.run_spec import RunSpec


@pytest.mark.parametrize(
    ("sections", "path", "message"),
    [
        ({"batch": {"group_size": 1}}, "batch.group_size", "`batch.group_size` must be ≥ 2, got 1"),
        ({"batch": {"num_prompts_per_batch": 3, "num_minibatches": 2}}, "batch.num_minibatches", "use 1 or 3"),
        ({"batch": {"num_prompts_per_batch": 9}}, "batch.num_prompts_per_batch", r"must be ≤ 3 \(the prompts given\)"),
        ({"sampling": {"sde_start": 9}}, "sampling.sde_start", "must be < 9, got 9"),
        ({"rewards": [{"name": "beauty"}]}, "rewards.0.name", "got 'beauty'"),
        ({"rewards": [{"name": "shape_match", "watched": True}]}, "rewards", "nothing to train on"),
        ({"optimiser": {}}, "optimiser", "is no setting: did you mean `optimizer`"),
        (
            {"algorithm": {"clip_range": 2}},
            "algorithm.clip_range",
            "`algorithm.clip_range` must be < 1, got 2",
        ),
        (
            {"algorithm": {"name": "refl", "num_late_steps": 0}},
            "algorithm.num_late_steps",
            "must be ≥ 1, got 0",
        ),
        (
            {"algorithm": {"name": "refl", "clip_range": 0.1}},
            "algorithm.clip_range",
            "does not belong to what",
        ),
        ({"algorithm": {"name": "ppo"}}, "algorithm.name", "must be one of flow_grpo, .*, got 'ppo'"),
        ({"algorithm": {"name": "dance_grpo"}}, "sampling.sde_type", "must be `dance` for dance_grpo, got flow"),
        ({"base_model": {"path": "absent"}}, "base_model.path", "choose one of `shapes`"),
        ({"lora": {"targets": ["attn.to_q", "attn.to_qq"]}}, "lora.targets", "matches nothing: .*attn.to_q"),
        ({"prompts": {}}, "prompts", "either `inline` or `prompt_set`"),
        ({"rewards": [{}]}, "rewards.0.name", "`rewards.0.name` is missing"),
        ({"optimizer": {"learning_rate": float("nan")}}, "optimizer.learning_rate", "finite number, got nan"),
    ],
)
@pytest.mark.django_db
def test_errors_lie_at_the_field_to_change(
    make_spec: Callable[..., RunSpec], sections: dict[str, Any], path: str, message: str
) -> None:
    report = check_spec({**make_spec().model_dump(mode="json"), **sections})
    assert not report.ok
    assert report.spec is None
    assert list(report.errors) == [path]
    assert re.search(message, report.errors[path][0])


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["{", "- 1", "", "just words"])
def test_text_that_is_no_spec_is_one_error_of_the_whole(text: str) -> None:
    assert list(check_spec(text).errors) == ["spec"]


@pytest.mark.django_db
def test_a_good_spec_comes_back_with_its_prompts(make_spec: Callable[..., RunSpec]) -> None:
    spec = make_spec()
    report = check_spec(spec.to_yaml())
    assert (report.ok, report.spec, report.prompts) == (True, spec, spec.prompts.inline)


def test_prompt_sets_are_looked_up_in_the_project(
    project: Project, alice: User, make_spec: Callable[..., RunSpec]
) -> None:
    prompt_set = create_prompt_set(user=alice, project=project, name="Two", prompts=["one", "two"])
    spec = make_spec(prompts={"prompt_set": str(prompt_set.pk)})
    assert check_spec(spec, project).prompts == parse_prompts(["one", "two"])
    assert list(check_spec(make_spec(prompts={"prompt_set": "other"}), project).errors) == ["prompts.prompt_set"]
    large = make_spec(prompts={"prompt_set": str(prompt_set.pk)}, batch={"num_prompts_per_batch": 3, "group_size": 2})
    assert list(check_spec(large, project).errors) == ["batch.num_prompts_per_batch"]
