"""Own prompts on a finished LoRA: a real job on a lane of its own."""

from typing import Any

import pytest

from tests.e2e.rest import START_SECONDS, Rest, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.ray]


@pytest.fixture
def run_with_lora(rest: Rest) -> str:
    """A completed run that another test of the folder left, else one of our own."""
    completed = rest.results("/runs?state=completed")
    if completed:
        return str(completed[0]["id"])
    run = rest.start_run("one batch", rest.preset("shapes-quick") | {"num_batches": 1})
    rest.run_when(run, lambda body: body["state"] == "completed", "the end", START_SECONDS)
    return run


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_own_prompts_are_drawn_on_a_lane_that_is_free_again_afterwards(rest: Rest, run_with_lora: str) -> None:
    wait_until(lambda: rest.num_lanes_held() == 0, "a pool without holders", 60)
    rest.post(f"/runs/{run_with_lora}/previews", prompts=["a red circle"], num_samples=1)
    wait_until(lambda: rest.num_lanes_held() == 1, "the lane of the preview", 60)
    previews: list[dict[str, Any]] = []

    def is_over() -> bool:
        previews[:] = rest.get(f"/runs/{run_with_lora}/previews")
        return previews[0]["state"] in {"done", "failed"}

    wait_until(is_over, "the pictures", START_SECONDS)
    assert (previews[0]["state"], previews[0]["error"]) == ("done", "")
    assert [len(previews[0][name]) for name in ("samples", "base_samples")] == [1, 1]
    wait_until(lambda: rest.num_lanes_held() == 0, "the lane's freedom", 60)
