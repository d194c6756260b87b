"""Rewards by `tandem.Client` and by `tandem rewards`, against the real application."""

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from accounts.models import User
from tandem import NotFound
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi

pytestmark = pytest.mark.django_db


def test_rewards_are_listed_and_one_is_shown(
    client: Client, alice: User, token_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.reward("ocr") in client.rewards()
    with pytest.raises(NotFound, match="choose one of"):
        client.reward("beauty")
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))

    def tandem(*arguments: str) -> str:
        return CliRunner().invoke(app, ["rewards", *arguments], obj=Invocation(transport=OverWsgi())).stdout

    assert "motion_smoothness     videos" in tandem()
    assert "setting shortest_side  default 736" in tandem("ocr")
    assert json.loads(tandem("ocr", "--json"))["highest"] == 1.0
