"""Each settings problem is reported with its id and a hint; good settings are silent."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings

from server import checks


def ids_of(problems: Any) -> list[str]:
    assert all(problem.hint for problem in problems)
    return [problem.id for problem in problems]


def test_the_test_settings_raise_no_problem() -> None:
    assert [problem for check in checks.ALL_CHECKS for problem in check()] == []


def test_a_data_folder_that_cannot_be_made_is_an_error(settings: Settings, tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.touch()
    settings.TANDEM_VAR = a_file / "var"
    assert ids_of(checks.check_data_folder()) == ["tandem.E001"]


def test_another_database_than_postgresql_is_an_error(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    assert ids_of(checks.check_database()) == ["tandem.E002"]


@pytest.mark.parametrize("url", ["amqp://host", "localhost:6379", ""])
def test_a_broker_that_is_not_redis_is_an_error(settings: Settings, url: str) -> None:
    settings.REDIS_URL = url
    assert ids_of(checks.check_redis()) == ["tandem.E003"]


def test_addresses_must_be_http(settings: Settings) -> None:
    settings.TANDEM_PUBLIC_URL = "tandem.example.org"
    settings.RAY_ADDRESS = "ray://head:10001"
    assert ids_of(checks.check_addresses()) == ["tandem.E004", "tandem.E005"]


@pytest.mark.parametrize("url", ["/data/artifacts", "nosuch://bucket/prefix"])
def test_storage_must_be_a_known_url(settings: Settings, url: str) -> None:
    settings.TANDEM_ARTIFACTS = url
    assert ids_of(checks.check_storage()) == ["tandem.E006"]


def test_a_policy_that_there_is_not_is_an_error(settings: Settings) -> None:
    settings.TANDEM_SECOND_FACTOR = "all"
    assert ids_of(checks.check_second_factor()) == ["tandem.E010"]


def test_where_passwords_open_nothing_there_must_be_a_provider(settings: Settings) -> None:
    assert checks.check_providers() == []
    settings.TANDEM_OIDC_ONLY = True
    assert ids_of(checks.check_providers()) == ["tandem.E011"]


def test_providers_that_cannot_be_read_are_an_error_that_says_where(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    settings.TANDEM_OIDC_PROVIDERS = str(file)
    (problem,) = checks.check_providers()
    assert problem.id == "tandem.E012" and "providers.yaml cannot be read" in problem.msg
    (tmp_path / "secret").write_text("x")
    known = {
        "id": "a",
        "name": "A",
        "issuer": "https://a.example.org",
        "client_id": "t",
        "client_secret_file": "secret",
    }
    for changed, said in {
        "issuer: http://a.example.org": "`issuer` of provider 1: must begin with https://, got 'http://a.example.org'",
        "client_secret_file: nowhere": "`client_secret_file` of provider 1",
        "id: A B": "`id` of provider 1",
        "client_secret: x": "`client_secret` of provider 1",
        "scopes: [email]": "`scopes` of provider 1: must hold openid",
        "session_hours: 0": "`session_hours` of provider 1",
        "group_roles: {projects: {shapes: {boss: [leads]}}}": "`group_roles.projects.shapes.boss",
    }.items():
        file.write_text(yaml.safe_dump([known | yaml.safe_load(changed)]))
        (problem,) = checks.check_providers()
        assert said in problem.msg
    other = known | {"id": "b", "name": "B"}
    file.write_text(yaml.safe_dump([known, other]))
    (problem,) = checks.check_providers()
    assert "two providers have the issuer https://a.example.org" in problem.msg
    file.write_text(yaml.safe_dump([known, other | {"issuer": "https://b.example.org/"}]))
    assert checks.check_providers() == []


@pytest.mark.parametrize("port", [80, 70000])
def test_a_port_outside_the_open_range_is_an_error(settings: Settings, port: int) -> None:
    settings.TANDEM_PORT = port
    assert ids_of(checks.check_port()) == ["tandem.E007"]


def test_a_missing_model_root_is_a_warning(settings: Settings, tmp_path: Path) -> None:
    settings.TANDEM_MODEL_ROOTS = [tmp_path, tmp_path / "missing"]
    assert ids_of(checks.check_model_roots()) == ["tandem.W001"]


def test_a_public_address_without_https_is_a_warning_and_debug_there_an_error(settings: Settings) -> None:
    settings.TANDEM_PUBLIC_URL = "http://tandem.example.org"
    settings.DEBUG = True
    assert ids_of(checks.check_https()) == ["tandem.W002"]
    assert ids_of(checks.check_debug()) == ["tandem.E008"]


def test_limits_must_be_above_zero(settings: Settings) -> None:
    settings.TANDEM_MAX_PAUSE_SECONDS = 0.0
    settings.TANDEM_MAX_STOP_SECONDS = float("nan")
    assert ids_of(checks.check_limits()) == ["tandem.E009", "tandem.E009"]
