"""Configurations of other trainers, turned into specs by `tandem.Client` and `tandem runs import`."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from accounts.models import User
from tandem import Invalid
from tandem.cli.invocation import Invocation
from tandem.cli.main import app
from tandem.synchronous.client import Client
from tests.client.conftest import ADDRESS, OverWsgi
from tests.web.catalog.flow_grpo_samples import RECIPES

pytestmark = pytest.mark.django_db
COMMAND = "accelerate launch train_dreambooth_lora_flux.py --rank=8 --max_train_steps=500"
Tandem = Callable[..., Result]


@pytest.fixture
def tandem(alice: User, token_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Tandem:
    monkeypatch.setenv("TANDEM_URL", ADDRESS)
    monkeypatch.setenv("TANDEM_TOKEN", token_of(alice))
    return lambda *given, stdin=None: CliRunner().invoke(
        app, ["runs", "import", *given], obj=Invocation(transport=OverWsgi()), input=stdin
    )


@pytest.fixture
def recipes(tmp_path: Path) -> str:
    file = tmp_path / "grpo.py"
    file.write_text(RECIPES)
    return str(file)


def test_a_text_and_a_file_become_the_same_spec(client: Client, recipes: str) -> None:
    assert client.import_configuration(RECIPES).functions == ["plain", "ocr_sd3", "video"]
    found = client.import_configuration(Path(recipes), function="ocr_sd3")
    assert found == client.import_configuration(RECIPES, function="ocr_sd3")
    assert found.spec["sampling"]["height"] == 512
    with pytest.raises(Invalid, match="it has plain, ocr_sd3, video"):
        client.import_configuration(RECIPES, function="other")


def test_the_spec_is_printed_and_what_it_lacks_is_told_beside_it(tandem: Tandem, recipes: str, tmp_path: Path) -> None:
    shown = tandem(recipes, "--function", "ocr_sd3")
    assert yaml.safe_load(shown.stdout)["batch"]["num_prompts_per_batch"] == 48
    assert "left out dataset = './dataset/pickscore': its prompts are files" in shown.stderr
    assert "left out" not in shown.stdout
    target = tmp_path / "spec.yaml"
    written = tandem(recipes, "--function", "ocr_sd3", "--gpus", "64", "-o", str(target))
    assert (written.exit_code, written.stdout) == (0, "")
    assert yaml.safe_load(target.read_text())["batch"]["num_prompts_per_batch"] == 96


def test_a_command_is_read_from_stdin_and_shown_as_json(tandem: Tandem) -> None:
    shown = json.loads(tandem("-", "--json", stdin=COMMAND).stdout)
    assert (shown["kind"], shown["spec"]["lora"]["rank"]) == ("diffusers", 8)
    assert [one["source"] for one in shown["left_out"]] == ["pretrained_model_name_or_path", "max_train_steps"]


def test_of_several_functions_one_must_be_named_and_an_only_one_need_not(tandem: Tandem, tmp_path: Path) -> None:
    refused = tandem("-", stdin=RECIPES)
    assert refused.exit_code == 2
    assert "plain, ocr_sd3, video" in refused.stderr
    only = tmp_path / "only.py"
    only.write_text("def mine():\n    config = base.get_config()\n    config.seed = 7\n    return config\n")
    assert yaml.safe_load(tandem(str(only)).stdout)["seed"] == 7
    assert tandem("-", "--kind", "flow_grpo", stdin="import os\n").exit_code == 2


def test_what_is_no_configuration_is_refused(tandem: Tandem, tmp_path: Path) -> None:
    refused = tandem("-", stdin="half a page of notes")
    assert refused.exit_code == 1
    assert "`kind`: the text looks like none of flow_grpo, diffusers: choose one" in refused.stderr
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"\xff\xfe\x00")
    # The message stands in a box, whose lines break where the file's path leaves room.
    assert "is no text" in re.sub(r"[\s│]+", " ", tandem(str(weights)).stderr)
