"""Finds the reader for this node's GPUs: a trace's where one is named, else that of the first driver that answers."""

import importlib
import logging
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from worker.contracts.device_masks import AmbiguousMaskError, visible_devices
from worker.contracts.node_reports import GPU_TRACE_VARIABLE, NUM_GPUS_VARIABLE, GpuReport
from worker.node.readers.amd import AmdReader
from worker.node.readers.ascend import TOOL, AscendReader
from worker.node.readers.nvml import NvmlReader
from worker.node.readers.reader import GpuReader, NoDriverError, NoGpus, ReaderError
from worker.node.readers.recorded import RecordedReader

logger = logging.getLogger(__name__)


def reader_of_this_node() -> GpuReader:
    """Raises `ValueError` or `OSError` for a trace that cannot be replayed."""
    trace = os.environ.get(GPU_TRACE_VARIABLE, "")
    if trace:
        return RecordedReader(Path(trace))
    for open_reader in (nvidia_reader, amd_reader, ascend_reader):
        try:
            return open_reader()
        except NoDriverError as error:
            logger.info("%s", error)
    return NoGpus()


def offered(gpus: Sequence[GpuReport]) -> tuple[GpuReport, ...]:
    """Those of this node's GPUs that belong to the pool: what the environment lets this process see, or the first
    `TANDEM_NUM_GPUS` cards of that, by index. A trace's are all visible.

    Raises:
        ReaderError: where it cannot be told what is visible.
    """
    try:
        seen = visible_devices([gpu.identity for gpu in gpus], {} if is_replayed() else os.environ)
    except AmbiguousMaskError as error:
        raise ReaderError(str(error)) from error
    number = os.environ.get(NUM_GPUS_VARIABLE, "")
    cards = sorted({identity.index for identity in seen})
    kept, uuids = set(cards[: int(number)] if number else cards), {identity.uuid for identity in seen}
    return tuple(gpu for gpu in gpus if gpu.identity.uuid in uuids and gpu.identity.index in kept)


def is_replayed() -> bool:
    """Whether this node's GPUs are a recorded trace."""
    return bool(os.environ.get(GPU_TRACE_VARIABLE))


def nvidia_reader() -> GpuReader:
    """Raises `NoDriverError`."""
    import pynvml

    return NvmlReader(pynvml)


def amd_reader() -> GpuReader:
    """Raises `NoDriverError`."""
    try:
        amdsmi = _amdsmi()
    # Without AMD's shared library the module's own import fails with a `KeyError`, with another release's with an
    # `AttributeError`.
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise NoDriverError(f"amdsmi: {error}") from error
    return AmdReader(amdsmi)


def _amdsmi() -> ModuleType:
    """The module of ROCm's tools, which is in ROCm's folder unless it was installed into this environment."""
    try:
        return importlib.import_module("amdsmi")
    except ModuleNotFoundError:
        folder = Path(os.environ.get("ROCM_PATH") or "/opt/rocm", "share", "amd_smi")
        if not (folder / "amdsmi").is_dir():
            raise
        sys.path.append(str(folder))
        return importlib.import_module("amdsmi")


def ascend_reader() -> GpuReader:
    """Raises `NoDriverError`."""
    tool = shutil.which(TOOL)
    if tool is None:
        raise NoDriverError(f"`{TOOL}` is not installed")
    return AscendReader(tool)
