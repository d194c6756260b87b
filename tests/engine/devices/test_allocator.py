"""Torch's allocators are set up on accelerators, and a node's own settings stay."""

import os

import pytest

from worker.engine.devices.allocator import OLDER_VARIABLES, VARIABLE, set_allocator
from worker.engine.devices.visibility import INHERITED_VARIABLE, VISIBILITY_VARIABLES, see_only

UUID = "GPU-01234567-89ab-cdef-0123-456789abcdef"
OURS = "expandable_segments:True,pinned_max_round_threshold_mb:1"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, *OLDER_VARIABLES, *VISIBILITY_VARIABLES, INHERITED_VARIABLE, "OMP_NUM_THREADS"):
        # Set first, so that what a test leaves is undone.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("DS_ACCELERATOR", "cpu")


def test_a_lane_on_an_accelerator_grows_its_segments_and_rounds_no_pinned_buffer() -> None:
    see_only(UUID)
    assert os.environ[VARIABLE] == OURS


def test_a_lane_on_a_cpu_is_left_alone() -> None:
    see_only("cpu")
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("name", [VARIABLE, *OLDER_VARIABLES])
def test_what_the_node_sets_stays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "max_split_size_mb:512")
    set_allocator()
    assert {key: os.environ[key] for key in (VARIABLE, *OLDER_VARIABLES) if key in os.environ} == {
        name: "max_split_size_mb:512"
    }


def test_an_older_torch_is_not_told_what_it_may_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.engine.devices.allocator.version", lambda _: "2.11.0+cu129")
    set_allocator()
    assert os.environ[VARIABLE] == "expandable_segments:True"
