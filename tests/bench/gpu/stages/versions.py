"""A policy version on its way: copied on the device, packed on the host, bound and read back on a lane.

A LoRA is one shard. Of all weights as many shards are measured as time allows; the seconds of the whole version follow
from their rate.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice

import torch

from tests.bench.gpu.bench_models import LoadedModel, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.rates import Work, compared, planned_device, timed
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.run_spec import RunSpec
from worker.engine.sync.binding import bind
from worker.engine.sync.host_staging import HostStaging
from worker.engine.sync.packing import pack, snapshot
from worker.engine.sync.shards import split_into_shards
from worker.engine.types import PublishedShard
from worker.scheduling.planning.cost_estimates import lane_costs

NUM_SHARDS = 8
"""Shards of all weights to measure: 2 GiB, which no cache holds."""


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    size = loaded.model.sizes[0]
    # All weights of a bf16 base are trained from ZeRO 1 on.
    for name, tuning, config in (("LoRA", "lora", "zero0"), ("all weights", "full", "zero1")):
        spec = loaded.spec(size, members=2, tuning=tuning, deepspeed={"config": config})
        trainable = loaded.adapter(spec, is_trained=True).trainable
        whole = sum(parameter.nbytes for parameter in trainable.values())
        names = islice(split_into_shards(trainable), NUM_SHARDS)
        shards = [{each: trainable[each] for each in shard} for shard in names]
        for step in ("snapshot", "pack", "staged pack", "bind"):
            bench.measure(f"{step} of {name}", partial(_row, bench, loaded, spec, shards, whole, step))


def _row(
    bench: GpuBench,
    loaded: LoadedModel,
    spec: RunSpec,
    shards: Sequence[Mapping[str, torch.nn.Parameter]],
    whole: int,
    step: str,
) -> Row:
    """Seconds of one step over `shards`, one after the other as lanes do it, and of a version of `whole` bytes. A
    staged pack goes through pinned memory, as a trainer lane's does."""
    staging = HostStaging()
    num_bytes = sum(parameter.nbytes for shard in shards for parameter in shard.values())
    seconds = first = 0.0
    for shard in shards:
        copies = snapshot(shard)
        version = pack(copies, 1)
        works: dict[str, Work] = {
            "snapshot": partial(snapshot, shard),
            "pack": partial(pack, copies, 1),
            "staged pack": partial(_staged, staging, copies),
            "bind": partial(bind, shard, version),
        }
        values = timed(bench, works[step])
        seconds, first = seconds + values["seconds"], first + values["first_call_seconds"]
    rate = num_bytes / seconds
    row: Row = {
        "seconds": seconds,
        "first_call_seconds": first,
        "measured_bytes": num_bytes,
        "bytes_per_second": rate,
        "whole_version_bytes": whole,
        "whole_version_seconds": whole / rate,
    }
    device = planned_device()
    if device is not None:
        costs = lane_costs(loaded.workload(spec), device)
        planned = {
            "snapshot": costs.snapshot_by(1),
            "pack": costs.publish_by(1),
            "staged pack": costs.publish_by(1),
            # A pull is a transfer and a bind; the transfer is none of this machine's.
            "bind": costs.pull - loaded.workload(spec).published_bytes / device.network_bandwidth,
        }[step]
        row["compared"] = compared(f"{step}, {spec.tuning.value}", planned, row["whole_version_seconds"], "s")
    return row


def _staged(staging: HostStaging, copies: Mapping[str, torch.Tensor]) -> PublishedShard:
    """Pack through buffers that the call before has left, as every version but the first does."""
    staging.begin()
    return pack(copies, 1, staging)
