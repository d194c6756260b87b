"""Rewards as specs name them: old specs load, settings follow the name, every field explains itself."""

from typing import Any

import pytest
from pydantic import ValidationError

from worker.contracts.base import Contract
from worker.contracts.names import RewardName
from worker.contracts.rewards import SETTINGS_OF, ClipScoreSettings, RemoteSettings, RewardSpec
from worker.contracts.run_spec import RunSpec

NEEDED: dict[RewardName, dict[str, Any]] = {
    RewardName.REMOTE: {"url": "https://scorer.example/score"},
    RewardName.IMAGE_REWARD: {"weights": "image-reward"},
}


def run_spec(*rewards: dict[str, Any], **sections: Any) -> RunSpec:
    prompts = {"inline": [str(index) for index in range(8)]}
    return RunSpec.model_validate({"prompts": prompts, "rewards": rewards, **sections})


def refusals(reward: dict[str, Any]) -> dict[tuple[int | str, ...], str]:
    with pytest.raises(ValidationError) as caught:
        RewardSpec.model_validate(reward)
    return {error["loc"]: error["msg"] for error in caught.value.errors()}


def test_a_reward_without_settings_has_the_defaults() -> None:
    reward = run_spec({"name": "shape_match", "weight": 2.0, "watched": False}).rewards[0]
    assert (reward.key, reward.weight, reward.required, reward.settings) == ("shape_match", 2.0, True, None)


@pytest.mark.parametrize("name", list(RewardName))
def test_every_reward_survives_yaml_with_its_settings(name: RewardName) -> None:
    clips = {"base_model": {"family": "wan"}, "sampling": {"num_frames": 5}}
    spec = run_spec({"name": name.value, "settings": NEEDED.get(name)}, **clips)
    assert RunSpec.from_yaml(spec.to_yaml()) == spec
    assert isinstance(spec.rewards[0].settings, SETTINGS_OF.get(name, type(None)))


def test_settings_take_their_kind_from_the_name() -> None:
    assert isinstance(RewardSpec(name=RewardName.CLIP_SCORE).settings, ClipScoreSettings)
    assert set(refusals({"name": "clip_score", "settings": {"url": "https://a"}})) == {("settings", "url")}
    assert "must be empty for `colorfulness`" in refusals({"name": "colorfulness", "settings": {"a": 1}})[("settings",)]
    assert set(refusals({"name": "remote"})) == {("settings", "url")}
    assert set(refusals({"name": "image_reward"})) == {("settings", "weights")}


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a/b", "scorer.example", "https://", "https://user:token@scorer.example/", "http://h:99999/", "http://h:x/",
        "http://h:80.evil.example/", "http://[::1/", "http://a b/", "http://a..b/", f"http://{'a' * 64}/", "http://a\u2028b/",
    ],
)  # fmt: skip
def test_an_address_is_http_and_holds_no_credentials(url: str) -> None:
    assert set(refusals({"name": "remote", "settings": {"url": url}})) == {("settings", "url")}


def test_one_scorer_may_be_used_twice_under_a_label() -> None:
    one, other = ({"name": "remote", "settings": NEEDED[RewardName.REMOTE]} for _ in range(2))
    with pytest.raises(ValidationError, match="give one of the same name a `label`"):
        run_spec(one, other)
    assert [reward.key for reward in run_spec(one, other | {"label": "faces"}).rewards] == ["remote", "faces"]
    with pytest.raises(ValidationError, match="name each reward once"):
        run_spec({"name": "shape_match"}, one | {"label": "shape_match"})


def test_watched_and_optional_rewards_may_be_missing() -> None:
    fields: list[tuple[dict[str, Any], bool]] = [({}, False), ({"watched": True}, True), ({"required": False}, True)]
    assert all(RewardSpec(name=RewardName.OCR, **given).may_be_missing is expected for given, expected in fields)


def test_every_field_and_setting_has_help() -> None:
    kinds: list[type[Contract]] = [RewardSpec, *SETTINGS_OF.values()]
    for kind in kinds:
        assert all(field.description for field in kind.model_fields.values()), kind


def test_the_schema_says_which_settings_belong_to_which_name() -> None:
    schema = RunSpec.model_json_schema()
    settings_of = schema["$defs"]["RewardSpec"]["properties"]["settings"]["settings_of"]
    assert settings_of == {name.value: kind.__name__ for name, kind in SETTINGS_OF.items()}
    assert set(settings_of.values()) <= set(schema["$defs"])


def test_a_token_has_no_place_in_a_spec() -> None:
    assert not {"token", "password"} & set(RemoteSettings.model_fields)


def test_motion_is_scored_in_clips_only() -> None:
    with pytest.raises(
        ValidationError, match=r"`sampling.num_frames` must be ≥ 3 for the reward motion_smoothness, got 1"
    ):
        run_spec({"name": "colorfulness"}, {"name": "motion_smoothness", "watched": True})
