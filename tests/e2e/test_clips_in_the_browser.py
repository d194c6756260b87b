"""A run of a video model, tiny but whole: its clips play on the run's page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import LoginPage, RunPage
from tests.e2e.rest import START_SECONDS, Rest
from tests.e2e.stack import Stack, running_stack

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

NUM_FRAMES = 9
"""At 8 frames per second a clip lasts more than a second."""


@pytest.fixture(scope="module")
def video_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    from worker.contracts.names import ModelFamily
    from worker.tiny_models.registry import build_tiny_checkpoint

    models = tmp_path_factory.mktemp("models")
    build_tiny_checkpoint(ModelFamily.WAN, models)
    with running_stack(tmp_path_factory.mktemp("video-stack"), TANDEM_MODEL_ROOTS=str(models)) as running:
        yield running


@pytest.fixture(scope="module")
def video_rest(video_stack: Stack) -> Iterator[Rest]:
    client = Rest.log_in(video_stack)
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_left_running(video_rest: Rest) -> Iterator[None]:
    """In place of the folder's: here the stack is another one."""
    yield
    for run in video_rest.results("/runs"):
        if "cancel" in run["legal_actions"]:
            video_rest.act(run["id"], "cancel")


def video_spec() -> dict[str, Any]:
    return {
        "base_model": {"path": "wan", "family": "wan"},
        "prompts": {"inline": ["a red square", "a blue circle"]},
        "rewards": [{"name": "colorfulness"}, {"name": "motion_smoothness", "watched": True}],
        "lora": {"rank": 4, "alpha": 8.0},
        "sampling": {
            "num_denoising_steps": 4,
            "num_eval_denoising_steps": 4,
            "num_frames": NUM_FRAMES,
            "fps": 8.0,
        },
        "batch": {"num_prompts_per_batch": 2, "group_size": 4, "micro_batch_size": 6},
        "evaluation": {"num_samples_per_prompt": 2},
        "num_batches": 2,
    }


@pytest.mark.timeout(600)
def test_the_clips_of_a_run_play_on_its_page(
    video_stack: Stack, video_rest: Rest, page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run_id = video_rest.start_run("clips", video_spec())
    video_rest.run_when(run_id, lambda body: body["state"] == "completed", "the end", START_SECONDS)
    samples = video_rest.get(f"/runs/{run_id}/samples?purpose=train")["results"]
    assert {sample["media_type"] for sample in samples} == {"video/webm"}
    assert len({sample["reward"] for sample in samples}) > 1

    run: RunPage = LoginPage(page, video_stack.address).log_in("admin", video_stack.password).open_run("clips")
    run.tab("Samples")
    run.wait_for_posters(timeout_seconds=30)
    clip = run.clips.first
    assert clip.evaluate("clip => clip.paused"), "nothing moves until somebody looks"
    clip.hover()
    run.wait_for_playback(clip, timeout_seconds=30)
    page.get_by_role("heading", name="clips").hover()
    expect(clip).to_have_js_property("paused", True)

    run.tiles.first.click()
    player = page.get_by_role("dialog").locator("video")
    run.wait_for_playback(player, timeout_seconds=30)
    assert player.evaluate("clip => [clip.videoWidth, clip.videoHeight, clip.muted, clip.loop]") == [32, 32, True, True]
    assert player.evaluate("clip => clip.duration") == pytest.approx(NUM_FRAMES / 8, rel=0.05)
    run.wait_for_a_second_round(player, timeout_seconds=30)
    page.screenshot(path=Path(tmp_path_factory.getbasetemp()) / "clips.png")
