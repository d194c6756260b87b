"""Finds the reader for this node's GPUs: a trace's where one is named, else that of the first driver that answers."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from worker.contracts.node_reports import GPU_TRACE_VARIABLE, NUM_GPUS_VARIABLE, GpuReport
from worker.node.readers.amd import AmdReader
from worker.node.readers.nvml import NvmlReader
from worker.node.readers.reader import GpuReader, NoDriverError, NoGpus
from worker.node.readers.recorded import RecordedReader

logger = logging.getLogger(__name__)


def reader_of_this_node() -> GpuReader:
    """Raises `ValueError` or `OSError` for a trace that cannot be replayed."""
    trace = os.environ.get(GPU_TRACE_VARIABLE, "")
    if trace:
        return RecordedReader(Path(trace))
    for open_reader in (nvidia_reader, amd_reader):
        try:
            return open_reader()
        except NoDriverError as error:
            logger.info("%s", error)
    return NoGpus()


def offered(gpus: Sequence[GpuReport]) -> tuple[GpuReport, ...]:
    """Those of this node's GPUs that belong to the pool: all, or the first `TANDEM_NUM_GPUS`, by index."""
    number = os.environ.get(NUM_GPUS_VARIABLE, "")
    return tuple(gpu for gpu in gpus if not number or gpu.identity.index < int(number))


def nvidia_reader() -> GpuReader:
    """Raises `NoDriverError`."""
    import pynvml

    return NvmlReader(pynvml)


def amd_reader() -> GpuReader:
    """Raises `NoDriverError`."""
    try:
        import amdsmi
    # Without AMD's shared library the module's own import fails with a `KeyError`, with another release's with an
    # `AttributeError`.
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise NoDriverError(f"amdsmi: {error}") from error
    return AmdReader(amdsmi)
