"""Trajectories from a rollout lane to a trainer lane of one node: packed, through shared memory, to the device.

Without Ray the bytes go through `/dev/shm` by one copy in and none out, which is what its object store does with them.
"""

from functools import partial
from multiprocessing.shared_memory import SharedMemory

import numpy as np

from tests.bench.gpu.bench_models import LoadedModel, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.rates import Work, bandwidth
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError
from tests.bench.sized_trajectories import NUM_MEMBERS, NUM_STEPS, trajectories_of
from worker.engine.transport.packed_trajectories import PackedTrajectories
from worker.engine.types import Trajectories

RAY_MIB = 64
"""A fragment of a few clips."""


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    for size in loaded.model.sizes:
        trajectories = _trajectories(bench, loaded, size)
        case = f"{NUM_MEMBERS} trajectories of {size}"
        bench.measure(f"{case}, packed and unpacked", partial(_packed, bench, trajectories))
        bench.measure(f"{case}, through shared memory", partial(_shared, bench, trajectories))
        bench.measure(f"{case}, to the device", partial(_to_device, bench, trajectories))
    bench.measure(f"{RAY_MIB} MiB through Ray's object store", partial(_through_ray, bench))


def _trajectories(bench: GpuBench, loaded: LoadedModel, size: SampleSize) -> Trajectories:
    """As many bytes as a fragment of this size has."""
    adapter = loaded.adapter(loaded.spec(size, members=2), is_trained=False)
    values = int(np.prod(adapter.latent_shape(**size.as_arguments)))
    return trajectories_of(4 * values * NUM_MEMBERS * (NUM_STEPS + 1))


def _packed(bench: GpuBench, trajectories: Trajectories) -> Row:
    """No byte is copied here: the seconds are those of every call."""
    return _row(bench, trajectories, lambda: PackedTrajectories.of(trajectories).unpacked())


def _shared(bench: GpuBench, trajectories: Trajectories) -> Row:
    packed = PackedTrajectories.of(trajectories)
    memory = SharedMemory(create=True, size=sum(buffer.nbytes for buffer in packed.buffers))
    try:

        def copy() -> None:
            first = 0
            for buffer in packed.buffers:
                target = np.ndarray(buffer.shape, buffer.dtype, memory.buf, first)
                np.copyto(target, buffer)
                first += buffer.nbytes

        return _row(bench, trajectories, copy)
    finally:
        memory.close()
        memory.unlink()


def _through_ray(bench: GpuBench) -> Row:
    try:
        from tests.bench import transport
    except ImportError as error:
        raise NotMeasurableError(f"{error.name} is not installed") from error
    with transport.local_store():
        found = transport.measure(RAY_MIB, bench.shapes.repeats)
    return {"seconds": found.packed_milliseconds / 1e3, "bytes_per_second": found.packed * 2**30}


def _to_device(bench: GpuBench, trajectories: Trajectories) -> Row:
    """As a trainer rank does: tensor by tensor, from memory that is not pinned."""
    states = trajectories.states.values()
    return _row(bench, trajectories, lambda: [state.to(bench.device) for state in states])


def _row(bench: GpuBench, trajectories: Trajectories, work: Work) -> Row:
    return {"bytes": trajectories.num_bytes, **bandwidth(bench, trajectories.num_bytes, work)}
