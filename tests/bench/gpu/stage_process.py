"""The process that runs stages: `python -m tests.bench.gpu.stage_process REPORT SECONDS STAGE…`, from `supervisor`."""

import gc
import logging
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch
from diffusers.utils import logging as diffusers_logging
from transformers.utils import logging as transformers_logging

from tests.bench.gpu.bench_report import NO_MEASUREMENT, BenchReport
from tests.bench.gpu.bench_shapes import shapes_for
from tests.bench.gpu.machine_facts import machine_facts
from tests.bench.gpu.stage_runner import GpuBench, run_stages
from tests.bench.gpu.stages.registry import STAGES
from worker.engine.devices.selection import resolve_device
from worker.engine.trainer.zero.process_group import destroy_process_group, free_port, init_process_group


def main(path: Path, seconds: float, names: list[str]) -> bool:
    """Run the stages of these names for at most `seconds`; whether all of them went well."""
    began = time.monotonic()
    _be_quiet()
    # Garbage is collected after every case, which need not look at the libraries' own objects.
    gc.freeze()
    device = resolve_device(None)
    shapes = shapes_for(device)
    report = BenchReport.read(path) if path.exists() else BenchReport.new(path, machine_facts(shapes))
    with tempfile.TemporaryDirectory() as folder:
        bench = GpuBench(shapes=shapes, device=device, folder=Path(folder), report=report)
        if not report.document["is_measurement"]:
            print(NO_MEASUREMENT, flush=True)
        init_process_group(0, 1, "127.0.0.1", free_port())
        try:
            return run_stages({name: STAGES[name] for name in names}, bench, ends_at=began + seconds)
        finally:
            destroy_process_group()


def _be_quiet() -> None:
    """Leave the output to the bench's own lines."""
    warnings.filterwarnings("ignore")
    logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
    diffusers_logging.set_verbosity_error()
    transformers_logging.set_verbosity_error()
    diffusers_logging.disable_progress_bar()
    transformers_logging.disable_progress_bar()
    torch._logging.set_logs(inductor=logging.ERROR, dynamo=logging.ERROR)


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
