"""A policy version from the first card to all others, as `pipeline.publishing: direct` sends it, against the plan.

One card has nobody to send to; three members on a CPU do, on tiny shapes. Of all weights as many shards are measured as
in the stage `versions`; the seconds of the whole version follow from their rate.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice

import torch

from tests.bench.gpu.bench_models import LoadedModel, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.broadcast_members import BroadcastMembers, devices
from tests.bench.gpu.rates import compared, planned_device, timed
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError
from tests.bench.gpu.stages.versions import NUM_SHARDS
from worker.contracts.run_spec import RunSpec
from worker.engine.sync.checksums import checksum
from worker.engine.sync.packing import snapshot
from worker.engine.sync.shards import split_into_shards
from worker.scheduling.planning.cost_estimates import lane_costs


def run(bench: GpuBench) -> None:
    if len(devices()) < 2:
        bench.measure("broadcast", _refused)
        return
    loaded = main_model(bench)
    size = loaded.model.sizes[0]
    for name, tuning, config in (("LoRA", "lora", "zero0"), ("all weights", "full", "zero1")):
        spec = loaded.spec(
            size, members=2, tuning=tuning, deepspeed={"config": config}, pipeline={"publishing": "direct"}
        )
        trainable = loaded.adapter(spec, is_trained=True).trainable
        whole = sum(parameter.nbytes for parameter in trainable.values())
        names = islice(split_into_shards(trainable), NUM_SHARDS)
        shards = [{each: trainable[each] for each in shard} for shard in names]
        bench.measure(f"broadcast of {name}", partial(_row, bench, loaded, spec, shards, whole))


def _refused() -> Row:
    raise NotMeasurableError("this machine has one card")


def _row(
    bench: GpuBench,
    loaded: LoadedModel,
    spec: RunSpec,
    shards: Sequence[Mapping[str, torch.nn.Parameter]],
    whole: int,
) -> Row:
    """Seconds until all lanes have received `shards`, and until they have bound them and read them back."""
    source, *lanes = devices()
    copies = [snapshot(shard) for shard in shards]
    members = BroadcastMembers(copies, source, lanes)
    checksums = [checksum(shard) for shard in copies]
    num_bytes = sum(tensor.nbytes for shard in copies for tensor in shard.values())
    sent = timed(bench, members.broadcast)
    bound = timed(bench, partial(members.bind, checksums))
    row: Row = {
        "lanes": len(lanes),
        "seconds": sent["seconds"],
        "first_call_seconds": sent["first_call_seconds"],
        "bind_seconds": bound["seconds"],
        "measured_bytes": num_bytes,
        "bytes_per_second": num_bytes / sent["seconds"],
        "whole_version_bytes": whole,
        "whole_version_seconds": whole / num_bytes * (sent["seconds"] + bound["seconds"]),
    }
    device = planned_device()
    if device is not None:
        costs = lane_costs(loaded.workload(spec), device)
        row["compared"] = compared(
            f"broadcast and bind, {spec.tuning.value}",
            costs.publish_by(1) + costs.pull,
            row["whole_version_seconds"],
            "s",
        )
    return row
