"""`runs:validate`: every error by field, or the spec as it will run."""

from typing import Any

import pytest
import yaml
from rest_framework.test import APIClient

from accounts.models import Project
from fleet.lane_layout import ensure_local_lanes

pytestmark = pytest.mark.django_db
SPEC: dict[str, Any] = {
    "prompts": {"inline": ["a red square", "a blue circle"]},
    "rewards": [{"name": "shape_match"}],
    "batch": {"num_prompts_per_batch": 2, "group_size": 4},
}


def validate(api: APIClient, **body: Any) -> dict[str, Any]:
    response = api.post("/api/v1/runs:validate", body)
    assert response.status_code == 200, response.content
    return dict(response.json())


def test_a_valid_spec_comes_back_whole_with_its_algebra(api: APIClient) -> None:
    answer = validate(api, spec=SPEC)
    assert (answer["ok"], answer["errors"]) == (True, {})
    assert answer["spec"]["optimizer"]["beta1"] == 0.9
    assert answer["algebra"]["num_trajectories"] == 8
    assert "2 prompts × 4 = 8 trajectories" in answer["algebra_text"]
    assert validate(api, yaml=answer["yaml"])["spec"] == answer["spec"]
    assert yaml.safe_load(answer["yaml"]) == answer["spec"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"batch": {"group_size": 1}}, "batch.group_size"),
        ({"batch": {"num_prompts_per_batch": 2, "num_minibatches": 3}}, "batch.num_minibatches"),
        ({"batch": {"num_prompts_per_batch": 3}}, "batch.num_prompts_per_batch"),
        ({"sampling": {"num_denoising_steps": 4, "sde_start": 3}}, "sampling.sde_start"),
        ({"rewards": [{"name": "beauty"}]}, "rewards.0.name"),
        ({"rewards": [{"name": "shape_match"}] * 2}, "rewards"),
        ({"base_model": {"path": "../etc"}}, "base_model.path"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_each_error_is_put_at_its_field(api: APIClient, changes: dict[str, Any], path: str) -> None:
    answer = validate(api, spec={**SPEC, **changes})
    assert (answer["ok"], answer["spec"], answer["algebra"]) == (False, None, None)
    assert path in answer["errors"]


@pytest.mark.parametrize("text", ["a: [", "- 1", "3"])
def test_text_that_is_no_spec_is_an_error_of_the_whole(api: APIClient, text: str) -> None:
    assert list(validate(api, yaml=text)["errors"]) == ["__all__"]


def test_errors_of_a_yaml_come_with_their_lines_and_what_was_read(api: APIClient) -> None:
    text = "prompts: {inline: [a]}\nrewards:\n- name: beauty\nbatch:\n  num_prompts_per_batch: 1\n  group_size: 1\n"
    answer = validate(api, yaml=text)
    assert answer["lines"] == {"rewards.0.name": 3, "batch.group_size": 6}
    assert answer["document"] == yaml.safe_load(text)
    broken = validate(api, yaml="prompts:\n  inline: [")
    assert (broken["lines"], broken["document"]) == ({"__all__": 3}, None)
    assert broken["errors"]["__all__"][0].startswith("the YAML is refused at line 3, column 1: a value is missing")


def test_either_spec_or_yaml(api: APIClient) -> None:
    for body in ({}, {"spec": SPEC, "yaml": "x"}):
        refused = api.post("/api/v1/runs:validate", body)
        assert refused.status_code == 400
        assert list(refused.json()["errors"]) == ["__all__"]


def test_a_spec_that_will_not_fit_the_pools_lanes_is_legal_and_warned_about(api: APIClient) -> None:
    ensure_local_lanes(num_cpu_lanes=3)
    assert validate(api, spec=SPEC)["warnings"] == []
    large = {"path": "black-forest-labs/FLUX.1-dev", "dtype": "bf16"}
    answer = validate(api, spec={**SPEC, "base_model": large})
    assert answer["ok"]
    rollout, trainer = answer["warnings"]
    assert rollout.startswith("A rollout lane is predicted to need ") and "cpu has 8.0" in rollout
    assert trainer.startswith("A trainer lane is predicted to need ")


def test_a_spec_is_legal_while_the_pool_has_no_lanes_and_refused_once_it_is_too_small(api: APIClient) -> None:
    spec = {**SPEC, "lanes": {"num_rollout": 2, "num_trainer": 2, "num_reward": 1}}
    answer = validate(api, spec=spec)
    assert answer["ok"]
    assert answer["warnings"] == ["The run needs 5 CPU lanes, the pool has none: it would wait until lanes join."]
    ensure_local_lanes(num_cpu_lanes=3)
    refused = validate(api, spec=spec)
    assert (refused["ok"], list(refused["errors"])) == (False, ["lanes.num_rollout"])
    assert "ask for 3" in refused["errors"]["lanes.num_rollout"][0]


def test_what_stands_against_a_run_is_listed_before_it_is_created(api: APIClient, project: Project) -> None:
    ensure_local_lanes(num_cpu_lanes=6)
    response = api.post("/api/v1/runs:preflight", {"spec": SPEC, "project": str(project.pk)})
    assert response.status_code == 200, response.content
    answer = response.json()
    assert {check["name"]: check["state"] for check in answer["checks"]}["queue"] == "fine"
    assert answer["starts"]["likely"] and answer["ends"] is None, "no run like it was measured yet"
    refused = api.post("/api/v1/runs:preflight", {"spec": {**SPEC, "batch": {"group_size": 1}}, "project": project.pk})
    assert [check["path"] for check in refused.json()["checks"]] == ["batch.group_size"]
    stranger = api.post("/api/v1/runs:preflight", {"spec": SPEC, "project": "0b0e5a1e-0000-4000-8000-000000000000"})
    assert stranger.status_code == 404
