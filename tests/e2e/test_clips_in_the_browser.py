"""A run of a video model, tiny but whole: its clips play on the run's page."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import RunsPage
from tests.e2e.rest import START_SECONDS, Rest

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]

NUM_FRAMES = 9
"""At 8 frames per second a clip lasts more than a second."""


def video_spec() -> dict[str, Any]:
    return {
        "base_model": {"path": "wan", "family": "wan"},
        "prompts": {"inline": ["a red square", "a blue circle"]},
        "rewards": [
            {"name": "colorfulness"},
            {"name": "motion_smoothness", "watched": True},
            # There is no text in these prompts to look for.
            {"name": "ocr", "watched": True},
        ],
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
def test_the_clips_of_a_run_play_on_its_page(rest: Rest, runs_page: RunsPage) -> None:
    run_id = rest.start_run("clips", video_spec())
    rest.run_when(run_id, lambda body: body["state"] == "completed", "the end", START_SECONDS)
    samples = rest.get(f"/runs/{run_id}/samples?purpose=train")["results"]
    assert {sample["media_type"] for sample in samples} == {"video/webm"}
    assert len({sample["reward"] for sample in samples}) > 1

    run = runs_page.open().open_run("clips")
    run.tab("Samples")
    run.wait_for_posters(timeout_seconds=30)
    clip = run.clips.first
    assert clip.evaluate("clip => clip.paused"), "nothing moves until somebody looks"
    clip.hover()
    run.wait_for_playback(clip, timeout_seconds=30)
    run.heading("clips").hover()
    expect(clip).to_have_js_property("paused", True)

    run.tiles.first.click()
    expect(run.page.get_by_role("dialog")).to_contain_text("OCRno score: the prompt must hold the wanted text")
    player = run.page.get_by_role("dialog").locator("video")
    run.wait_for_playback(player, timeout_seconds=30)
    assert player.evaluate("clip => [clip.videoWidth, clip.videoHeight, clip.muted, clip.loop]") == [32, 32, True, True]
    assert player.evaluate("clip => clip.duration") == pytest.approx(NUM_FRAMES / 8, rel=0.05)
    run.wait_for_a_second_round(player, timeout_seconds=30)
