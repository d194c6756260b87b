"""A run that trains all weights: what it leaves is several files, fetched at once and loaded by plain diffusers."""

import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import START_SECONDS, Rest

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]

MODEL = Path(__file__).resolve().parents[2] / "deploy" / "models" / "shapes"


@pytest.mark.timeout(600)
def test_all_weights_are_downloaded_at_once_and_load(rest: Rest, runs_page: RunsPage, tmp_path: Path) -> None:
    spec = rest.preset("shapes-quick") | {"num_batches": 1, "tuning": "full"}
    run_id = rest.start_run("all weights", spec)
    rest.run_when(run_id, lambda body: body["state"] == "completed", "the end", START_SECONDS)
    run = runs_page.open().open_run("all weights")
    run.tab("Checkpoints & weights")
    expect(run.versions).to_contain_text("files")
    with tarfile.open(run.download_archive(tmp_path)) as tar:
        tar.extractall(tmp_path, filter="data")
    assert "sha256sum --check" in run.recipe("File by file")
    _loads(run.recipe("Load it"), tmp_path)


def _loads(code: str, folder: Path) -> None:
    """The recipe as the page writes it, in the folder that the archive was unpacked in."""
    import torch
    from diffusers import FluxPipeline

    (unpacked,) = (path.name for path in folder.iterdir() if path.is_dir())
    namespace: dict[str, object] = {}
    exec(code.replace(f'"{unpacked}"', f'"{folder / unpacked}"').replace('"shapes"', f'"{MODEL}"'), namespace)
    pipeline, base = namespace["pipeline"], FluxPipeline.from_pretrained(MODEL)
    assert isinstance(pipeline, FluxPipeline)
    trained, before = pipeline.transformer.state_dict(), base.transformer.state_dict()
    assert trained.keys() == before.keys()
    assert not all(torch.equal(trained[name], before[name]) for name in before)
