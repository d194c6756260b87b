"""Ranks wait for each other's loading as long as it takes, and for each other's collectives as long as the driver."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from deepspeed.accelerator import get_accelerator

from tests.engine.rank_processes import run_rank_processes
from worker.engine.context_parallel.lane_group import join_group, open_store
from worker.engine.devices import flight_recorder
from worker.engine.devices.collective_timeout import COLLECTIVE_TIMEOUT
from worker.engine.trainer.zero.process_group import init_process_group


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the group is made with, in place of making it."""
    made: dict[str, Any] = {}
    monkeypatch.setattr(torch.distributed, "init_process_group", lambda backend, **settings: made.update(settings))
    monkeypatch.setattr("deepspeed.init_distributed", lambda **settings: None)
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", flight_recorder.DUMP_PREFIX):
        monkeypatch.setenv(name, "")
    for name in (*flight_recorder.SETTINGS, flight_recorder.DUMP_PREFIX):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return made


@pytest.fixture
def on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """DeepSpeed's accelerator names itself as an NVIDIA card does."""
    accelerator = get_accelerator()
    monkeypatch.setattr(accelerator, "communication_backend_name", lambda: "nccl")
    monkeypatch.setattr(accelerator, "device_name", lambda: "cuda")
    monkeypatch.setattr(accelerator, "current_device_name", lambda: "cuda:0")


def test_on_an_accelerator_the_group_is_bound_to_its_device(joined: dict[str, Any], on_cuda: None) -> None:
    init_process_group(1, 2, "127.0.0.1", 1234)
    assert joined["device_id"] == torch.device("cuda:0")
    assert joined["timeout"] == COLLECTIVE_TIMEOUT


def test_the_group_of_a_lane_of_several_gpus_is_bound_to_its_device_and_keeps_a_record(
    joined: dict[str, Any], on_cuda: None
) -> None:
    store = open_store(1)
    join_group(0, 1, store)
    assert joined["device_id"] == torch.device("cuda:0")
    assert os.environ["TORCH_FR_BUFFER_SIZE"] == "2000"
    assert os.environ[flight_recorder.DUMP_PREFIX].endswith(f"tandem-nccl-{store.port}-rank-")


def test_on_the_cpu_the_group_is_bound_to_nothing(joined: dict[str, Any]) -> None:
    init_process_group(1, 2, "127.0.0.1", 1234)
    assert joined["device_id"] is None


def test_nccls_flight_recorder_is_kept_unless_the_node_says_otherwise(
    joined: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    init_process_group(1, 2, "127.0.0.1", 1234)
    assert os.environ["NCCL_DEBUG"] == "INFO"
    assert os.environ["TORCH_NCCL_DUMP_ON_TIMEOUT"] == "1"
    assert os.environ[flight_recorder.DUMP_PREFIX].endswith("tandem-nccl-1234-rank-")


@pytest.mark.slow
def test_a_rank_that_loads_slowly_is_waited_for_and_one_that_is_late_to_a_collective_is_not(tmp_path: Path) -> None:
    """Collectives of every group are limited to a second here, and loading differs by two."""
    results = run_rank_processes("tests.engine.trainer.zero.slow_loading_worker", {"seconds": 2.0}, tmp_path)
    early, late = (result["waited"] for result in results)
    assert min(early) >= 2, "the driver sees that a rank which waits for another goes on"
    assert late == [0, 0], "nothing is waited for but the others"
    for result in results:
        assert result["sum"] == 3.0
        assert result["limits_after_loading"] == [timedelta(seconds=1)] * 2
    assert "imed out" in results[0]["late"]
