"""Presets, base models and prompt sets over REST."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from worker.contracts.names import RewardName
from worker.contracts.run_spec import RunSpec

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]


def test_presets_are_whole_valid_specs(api: APIClient) -> None:
    presets = api.get("/api/v1/presets").json()["results"]
    assert presets
    for preset in presets:
        assert RunSpec.model_validate(preset["spec"])


def test_the_schema_of_a_spec_carries_every_choice_with_its_help(api: APIClient) -> None:
    schema = api.get("/api/v1/run-spec-schema").json()
    choices = schema["$defs"]["RewardName"]["oneOf"]
    assert [choice["const"] for choice in choices] == [name.value for name in RewardName]
    assert all(choice["description"] for choice in choices)
    assert schema["$defs"]["BatchSpec"]["properties"]["group_size"]["description"]


def test_every_scorer_of_a_spec_is_a_reward_with_its_settings_weights_and_presets(api: APIClient) -> None:
    rewards = {reward["name"]: reward for reward in api.get("/api/v1/rewards").json()["results"]}
    assert list(rewards) == [name.value for name in RewardName]
    clip = rewards["clip_score"]
    assert (clip["lowest"], clip["highest"], clip["scores_images"], clip["scores_videos"]) == (0.0, 2.5, True, True)
    assert clip["weights"] == {"weights": "openai/clip-vit-large-patch14"}
    assert clip["settings"]["properties"]["pictures_per_call"]["maximum"] > 1
    assert rewards["image_reward"]["weights"] == {"weights": None}, "published as a pickle, so a spec has to name it"
    assert (rewards["colorfulness"]["settings"], rewards["motion_smoothness"]["scores_images"]) == (None, False)
    assert "shapes-demo" in rewards["shape_match"]["presets"]
    assert api.get("/api/v1/rewards/clip_score").json() == clip
    unknown = api.get("/api/v1/rewards/beauty")
    assert (unknown.status_code, "choose one of shape_match" in unknown.json()["detail"]) == (404, True)


def test_base_models_show_names_not_server_paths(api: APIClient) -> None:
    models = api.get("/api/v1/base-models").json()["results"]
    assert "shapes" in [model["name"] for model in models]
    assert not [model for model in models if model["path"].startswith("/")]


def test_prompt_sets_are_made_read_and_deleted(api: APIClient, project: Project) -> None:
    made = api.post("/api/v1/prompt-sets", {"project": str(project.pk), "name": "two", "prompts": ["a", "b"]})
    assert made.status_code == 201
    assert (made.json()["num_prompts"], made.json()["prompts"]) == (2, ["a", "b"])
    address = f"/api/v1/prompt-sets/{made.json()['id']}"
    (listed,) = api.get("/api/v1/prompt-sets", {"project": str(project.pk)}).json()["results"]
    assert listed == {**{k: v for k, v in made.json().items() if k != "prompts"}, "first_prompts": ["a", "b"]}
    assert api.get(address).json() == made.json()
    assert api.get(address).json() == made.json()
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404


def test_the_list_of_prompt_sets_reads_a_few_prompts_of_each(
    api: APIClient, project: Project, django_assert_max_num_queries: Any
) -> None:
    many = [{"text": "first", "metadata": {"tag": "x"}}, *(f"prompt {number}" for number in range(500))]
    api.post("/api/v1/prompt-sets", {"project": str(project.pk), "name": "many", "prompts": many})
    with django_assert_max_num_queries(8) as asked:
        (listed,) = api.get("/api/v1/prompt-sets").json()["results"]
    assert (listed["num_prompts"], listed["first_prompts"]) == (501, [many[0], "prompt 0", "prompt 1"])
    whole = '"name", "catalog_promptset"."prompts"'
    assert not any(whole in query["sql"] for query in asked.captured_queries), "no set is read whole"


def test_a_repeated_prompt_is_reported_at_its_field(api: APIClient, project: Project) -> None:
    refused = api.post("/api/v1/prompt-sets", {"project": str(project.pk), "name": "x", "prompts": ["a", "a"]})
    assert refused.status_code == 400
    assert "repeats prompt 1" in refused.json()["errors"]["prompts"][0]


def test_a_missing_body_is_reported_field_by_field(api: APIClient) -> None:
    refused = api.post("/api/v1/prompt-sets", {})
    assert set(refused.json()["errors"]) == {"project", "name", "prompts"}


def test_viewers_upload_nothing_and_outsiders_see_nothing(
    client_of: ClientOf, api: APIClient, project: Project, viewer: User, charlie: User
) -> None:
    body = {"project": str(project.pk), "name": "x", "prompts": ["a"]}
    made = api.post("/api/v1/prompt-sets", body).json()
    assert client_of(viewer).post("/api/v1/prompt-sets", body).status_code == 403
    assert client_of(viewer).delete(f"/api/v1/prompt-sets/{made['id']}").status_code == 403
    assert client_of(charlie).post("/api/v1/prompt-sets", body).status_code == 404
    assert client_of(charlie).get("/api/v1/prompt-sets").json()["results"] == []
    assert client_of(charlie).get(f"/api/v1/prompt-sets/{made['id']}").status_code == 404
    assert client_of(charlie).get("/api/v1/prompt-sets", {"project": str(project.pk)}).status_code == 404
