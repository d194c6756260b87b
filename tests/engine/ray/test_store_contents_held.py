"""What the plan says that Ray's object store holds, against what the engine sends and a real store held."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from ray._private.internal_api import get_memory_info_reply, get_state_from_address

from tests.engine.conftest import SpecMaker
from tests.engine.driving import Driven
from tests.engine.sharing_embeddings import load_sampler
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.models.lora import lora_parameters
from worker.engine.sync.packing import pack
from worker.engine.types import GenerationRequest
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose
from worker.scheduling.planning.store_contents import store_contents, trajectory_bytes
from worker.scheduling.planning.workload import Workload

SIDE = 256
"""Pixels: trajectories and pictures of a fragment are larger than the 100 kB up to which Ray keeps values elsewhere."""


def tiny_work(spec: RunSpec) -> Workload:
    """The workload with the tiny checkpoint's tokens: 8 pixels a side, 16 values."""
    work = Workload.of(spec)
    return replace(work, profile=replace(work.profile, token_pixels=8, token_channels=16))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"algorithm": {"name": "flow_grpo_fast", "window_size": 2}},
        {"algorithm": {"name": "dance_grpo", "timestep_fraction": 1.0}, "sampling": {"sde_type": "dance"}},
        {"algorithm": {"name": "grpo_guard", "clip_range": 2e-6}},
        {"algorithm": {"name": "diffusion_nft"}},
    ],
    ids=lambda changes: changes.get("algorithm", {}).get("name", "flow_grpo"),
)
def test_a_trajectory_is_as_large_as_planned(
    make_spec: SpecMaker, tiny_checkpoint: str, changes: dict[str, Any]
) -> None:
    document = make_spec().model_dump(mode="json")
    sampling = {**document["sampling"], **changes.get("sampling", {})}
    spec = RunSpec.model_validate({**document, **changes, "sampling": sampling})
    sampler = load_sampler(spec, tiny_checkpoint)
    sampler.pull(pack(lora_parameters(sampler._model.transformer), 0))
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1), 0, 0)
    drawn = sampler.generate(
        GenerationRequest(fragment=fragment, prompt=Prompt(text="a red square"), run_seed=3, prompt_index=0)
    ).trajectories
    assert drawn is not None
    work = tiny_work(spec)
    work = replace(work, height=sampling["height"], width=sampling["width"])
    assert drawn.num_bytes - drawn.sigmas.nbytes == 2 * trajectory_bytes(spec, work)


@pytest.mark.slow
@pytest.mark.ray
def test_a_real_store_never_holds_more_than_planned(
    drive: Callable[..., Driven], make_spec: SpecMaker, ray_address: str
) -> None:
    spec = make_spec(sampling={"height": SIDE, "width": SIDE}, num_batches=3)
    held = store_contents(spec, tiny_work(spec))
    before, most = used_bytes(ray_address), 0
    driven = drive(spec)
    while driven.process.poll() is None:
        most = max(most, used_bytes(ray_address) - before)
        time.sleep(0.05)
    assert driven.process.returncode == 0
    print(f"planned {held}, held {most}")
    assert most <= held.total
    assert most >= 0.5 * (held.trajectories + held.samples)


def used_bytes(address: str) -> int:
    """Bytes in the object store of a cluster of one node."""
    reply = get_memory_info_reply(get_state_from_address(address))
    return int(reply.store_stats.object_store_bytes_used)
