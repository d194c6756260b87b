"""A recipe over REST: named, turned into a spec that validates once it has prompts, refused by field."""

import pytest
import yaml
from rest_framework.test import APIClient

from tests.web.catalog.flow_grpo_samples import PROMPTS, RECIPES

pytestmark = pytest.mark.django_db


def test_a_recipe_becomes_a_spec_that_validates(api: APIClient) -> None:
    named = api.post("/api/v1/runs:import", {"source": RECIPES}).json()
    assert named["functions"] == ["plain", "ocr_sd3", "video"]
    answer = api.post("/api/v1/runs:import", {"source": RECIPES, "function": "ocr_sd3"}).json()
    assert {one["source"] for one in answer["left_out"]} == {"reward_fn", "dataset", "sample.brand_new_option"}
    assert yaml.safe_load(answer["yaml"]) == answer["spec"]
    spec = {**answer["spec"], "prompts": {"inline": PROMPTS}}
    checked = api.post("/api/v1/runs:validate", {"spec": spec}).json()
    assert (checked["ok"], checked["errors"]) == (True, {})


def test_a_training_command_of_diffusers_becomes_a_spec_that_validates_with_prompts_and_rewards(api: APIClient) -> None:
    command = "train_dreambooth_lora_flux.py --pretrained_model_name_or_path=shapes --rank=8 --max_train_steps=500"
    answer = api.post("/api/v1/runs:import", {"kind": "diffusers", "source": command}).json()
    assert [one["source"] for one in answer["left_out"]] == ["pretrained_model_name_or_path", "max_train_steps"]
    spec = {**answer["spec"], "prompts": {"inline": PROMPTS}, "rewards": [{"name": "shape_match"}]}
    checked = api.post("/api/v1/runs:validate", {"spec": spec}).json()
    assert (checked["ok"], checked["errors"]) == (True, {})


def test_a_file_that_cannot_be_read_is_refused_by_field(api: APIClient) -> None:
    refused = api.post("/api/v1/runs:import", {"source": "def broken(:", "function": "broken"})
    assert refused.status_code == 400
    assert "line 1" in refused.json()["errors"]["source"][0]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import ml_collections\n", "flow_grpo"),
        ("# recipes\n\ndef plain():\n    return base.get_config()\n", "flow_grpo"),
        ("accelerate launch train.py \\\n  --rank=4", "diffusers"),
        ("rank: 4\nlearning_rate: 1e-4\n", "diffusers"),
        ('{"rank": 4}', "diffusers"),
    ],
)
def test_a_text_is_read_as_what_it_looks_like(api: APIClient, source: str, kind: str) -> None:
    assert api.post("/api/v1/runs:import", {"source": source}).json()["kind"] == kind


def test_a_text_that_looks_like_nothing_known_must_be_told_what_it_is(api: APIClient) -> None:
    refused = api.post("/api/v1/runs:import", {"source": "half a page of notes"})
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["kind"])
    guessed = api.post("/api/v1/runs:import", {"source": "def broken(:"}).json()["errors"]["source"][0]
    told = api.post("/api/v1/runs:import", {"source": "def broken(:", "kind": "flow_grpo"}).json()["errors"]["source"][
        0
    ]
    assert guessed == f"read as flow_grpo's: {told}"
