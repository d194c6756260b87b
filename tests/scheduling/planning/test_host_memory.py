"""What a run takes of a node's own memory: values computed by hand, and fewer lanes never take more."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.host_memory import encodes_on_device, host_memory
from worker.scheduling.planning.memory import host_bytes, staged_bytes
from worker.scheduling.planning.stored_embeddings import MAX_CLAIMS, PROMPTS_PER_CLAIM
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, H100, L40S

MISTRAL = 2 * 24.0e9
SHARDED = {"config": "zero3_cpuoffload"}
EIGHT = {"num_rollout": 8, "num_trainer": 8}


def workload(**sections: Any) -> Workload:
    document: dict[str, Any] = {
        "base_model": {"path": "black-forest-labs/FLUX.2-dev", "family": "flux2", "dtype": "bf16"},
        "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
        "rewards": [{"name": "shape_match"}],
        "lanes": EIGHT,
    }
    return Workload.of(RunSpec.model_validate({**document, **sections}))


def test_one_process_of_a_node_encodes_what_comes_while_the_run_works() -> None:
    work = workload()
    held = host_memory(work, H100, num_lanes=8, num_texts=10_000)
    assert (encodes_on_device(work, H100), held.text_encoders) == (True, MISTRAL)
    assert held.offloaded == 8 * staged_bytes(work, num_ranks=8)


@pytest.mark.parametrize(
    ("num_lanes", "num_texts", "num_encoding"),
    [(8, 1, 1), (8, 3 * PROMPTS_PER_CLAIM, 3), (8, 10_000, 8), (1000, 10**6, MAX_CLAIMS)],
)
def test_without_room_on_devices_as_many_lanes_load_text_encoders_as_share_the_work(
    num_lanes: int, num_texts: int, num_encoding: int
) -> None:
    work = workload()
    assert not encodes_on_device(work, L40S)
    assert host_memory(work, L40S, num_lanes=num_lanes, num_texts=num_texts).text_encoders == num_encoding * MISTRAL


def test_what_trainer_lanes_offload_lies_beside_the_text_encoders() -> None:
    work = workload(tuning="full", deepspeed=SHARDED, lanes={"num_rollout": 2, "num_trainer": 4})
    of_lane = host_bytes(work, H100, num_ranks=4) + staged_bytes(work, num_ranks=4)
    held = [host_memory(work, H100, num_lanes=number, num_texts=1) for number in (1, 4, 6)]
    assert [memory.offloaded for memory in held] == [of_lane, 4 * of_lane, 4 * of_lane]
    assert held[0].total == MISTRAL + of_lane


def test_lanes_without_an_accelerator_encode_in_the_nodes_memory_and_pin_none() -> None:
    held = host_memory(workload(), CPU_CORE, num_lanes=4, num_texts=10_000)
    assert (held.text_encoders, held.offloaded) == (4 * MISTRAL, 0.0)


@given(num_lanes=st.integers(1, 300), num_texts=st.integers(1, 10**6), fits=st.booleans())
def test_fewer_lanes_never_take_more(num_lanes: int, num_texts: int, fits: bool) -> None:
    work = workload(tuning="full", deepspeed=SHARDED)
    device = replace(H100, memory_bytes=H100.memory_bytes if fits else 40e9)
    fewer, more = (
        host_memory(work, device, num_lanes=number, num_texts=num_texts) for number in (num_lanes, num_lanes + 1)
    )
    assert fewer.total <= more.total
