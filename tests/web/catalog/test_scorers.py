"""What the rewards of a spec need here: weights below the model roots, and secrets that go to their host alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from accounts.encryption import CannotDecrypt, decrypt, encrypt
from accounts.models import Project, User
from catalog.base_models import ModelNotUsable
from catalog.models import Secret
from catalog.scorers import scorer_access, scorer_problems, with_resolved_weights
from catalog.services import create_secret, delete_secret
from runs.spec_check import check_spec
from worker.contracts.run_spec import RunSpec

MakeSpec = Callable[..., RunSpec]
TOKEN = "a-token-nobody-may-see"


@pytest.fixture
def weights(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "roots" / "clip-tiny"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").touch()
    settings.TANDEM_MODEL_ROOTS = [*settings.TANDEM_MODEL_ROOTS, tmp_path / "roots"]
    return folder


@pytest.fixture
def secret(project: Project, alice: User) -> Secret:
    return create_secret(user=alice, project=project, name="scorer", host="scorer.example:8900", value=TOKEN)


def remote(**settings: Any) -> list[dict[str, Any]]:
    return [{"name": "remote", "settings": {"url": "https://scorer.example:8900/score", "secret": "scorer"} | settings}]


def test_weights_below_a_root_reach_the_engine_as_a_folder(make_spec: MakeSpec, weights: Path) -> None:
    spec = make_spec(rewards=[{"name": "clip_score", "settings": {"weights": "clip-tiny"}}, {"name": "hps_v2"}])
    resolved = with_resolved_weights(spec)
    assert [reward.settings.weights for reward in resolved.rewards] == [str(weights), "adams-story/HPSv2-hf"]  # type: ignore[union-attr]
    assert scorer_problems(spec, None) == {}


@pytest.mark.parametrize("path", ["../secrets", "/etc", "absent", "a/b/c"])
def test_weights_outside_the_roots_are_refused_at_their_field(make_spec: MakeSpec, weights: Path, path: str) -> None:
    spec = make_spec(rewards=[{"name": "shape_match"}, {"name": "clip_score", "settings": {"weights": path}}])
    problems = scorer_problems(spec, None)
    assert list(problems) == ["rewards.1.settings.weights"]
    assert "no folder below TANDEM_MODEL_ROOTS" in problems["rewards.1.settings.weights"]
    with pytest.raises(ModelNotUsable):
        with_resolved_weights(spec)


def test_pickled_weights_are_refused(make_spec: MakeSpec, weights: Path) -> None:
    (weights / "pytorch_model.bin").touch()
    spec = make_spec(rewards=[{"name": "clip_score", "settings": {"weights": "clip-tiny"}}])
    assert "pickled weights (pytorch_model.bin)" in scorer_problems(spec, None)["rewards.0.settings.weights"]


def test_a_secret_is_stored_encrypted(secret: Secret) -> None:
    row = Secret.objects.values().get(pk=secret.pk)
    assert TOKEN not in json.dumps(row, default=str)
    assert decrypt(row["encrypted"]) == TOKEN


def test_a_secret_encrypted_under_an_older_key_is_readable_while_the_key_is_a_fallback(settings: Any) -> None:
    encrypted, old = encrypt(TOKEN), settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    with pytest.raises(CannotDecrypt, match="enter it again"):
        decrypt(encrypted)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert decrypt(encrypted) == TOKEN


def test_a_run_gets_the_tokens_that_its_rewards_name_and_no_other(
    make_spec: MakeSpec, project: Project, alice: User, secret: Secret
) -> None:
    create_secret(user=alice, project=project, name="other", host="scorer.example:8900", value="another-token")
    assert scorer_access(make_spec(rewards=remote()), project).tokens == {"scorer": TOKEN}
    assert scorer_access(make_spec(), project).tokens == {}
    assert scorer_access(make_spec(rewards=remote(secret=None)), project).tokens == {}


@pytest.mark.parametrize(
    "url",
    ["https://elsewhere.example/score", "https://scorer.example/score", "https://scorer.example.evil.example:8900/"],
)
def test_a_secret_goes_to_its_host_alone(make_spec: MakeSpec, project: Project, secret: Secret, url: str) -> None:
    spec = make_spec(rewards=remote(url=url))
    assert scorer_access(spec, project).tokens == {}
    assert "may be sent to `scorer.example:8900` alone" in scorer_problems(spec, project)["rewards.0.settings.secret"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://169.254.169.254/latest/meta-data", "private address 169.254.169.254"),
        ("https://0x7f.1/score", "private address 0x7f.1"),
        ("http://scorer.example/score", "must begin with https://"),
    ],
)
def test_a_scorer_in_a_private_network_is_refused_at_its_field_unless_its_host_is_allowed(
    make_spec: MakeSpec, settings: Any, url: str, said: str
) -> None:
    spec = make_spec(rewards=remote(url=url, secret=None))
    problems = scorer_problems(spec, None)
    assert list(problems) == ["rewards.0.settings.url"] and said in problems["rewards.0.settings.url"]
    settings.TANDEM_SCORER_HOSTS = [urlsplit(url).hostname]
    assert scorer_problems(spec, None) == {}


def test_the_driver_gets_the_hosts_that_are_allowed(make_spec: MakeSpec, project: Project, settings: Any) -> None:
    settings.TANDEM_SCORER_HOSTS = ["scorer.internal"]
    assert scorer_access(make_spec(), project).hosts == ("scorer.internal",)


def test_a_secret_of_another_project_is_none(make_spec: MakeSpec, make_project: Any, secret: Secret) -> None:
    other = make_project("Other")
    spec = make_spec(rewards=remote())
    assert scorer_access(spec, other).tokens == {}
    assert check_spec(spec, other).errors["rewards.0.settings.secret"][0].endswith("there is none yet")


def test_a_deleted_secret_is_named_before_the_run_is_made(
    make_spec: MakeSpec, project: Project, alice: User, secret: Secret
) -> None:
    assert check_spec(make_spec(rewards=remote()), project).ok
    delete_secret(user=alice, secret=secret)
    assert list(check_spec(make_spec(rewards=remote()), project).errors) == ["rewards.0.settings.secret"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reward", "path"),
    [
        ({"name": "remote"}, "rewards.0.settings.url"),
        ({"name": "remote", "settings": {"url": "scorer.example"}}, "rewards.0.settings.url"),
        ({"name": "image_reward"}, "rewards.0.settings.weights"),
        ({"name": "shape_match", "settings": {"weights": "x"}}, "rewards.0.settings"),
        ({"name": "shape_match", "label": "reward"}, "rewards.0.label"),
        ({"name": "shape_match", "num_retries": 99}, "rewards.0.num_retries"),
        ({"name": "shape_match", "timeout_seconds": 0}, "rewards.0.timeout_seconds"),
    ],
)
def test_errors_of_a_reward_lie_at_its_field(make_spec: MakeSpec, reward: dict[str, Any], path: str) -> None:
    errors = check_spec({**make_spec().model_dump(mode="json"), "rewards": [reward]}).errors
    assert list(errors) == [path]
