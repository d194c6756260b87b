"""The steps of a test, one after the other.

```text
device ─► matrix product ─► memory sweep ─► engine ─► all-reduce
   └── the first that fails, hangs or raises ends the test: those behind it are reported as skipped
```

Those behind a failure are not tried: after most faults a device answers nothing more, and each would wait for its limit
in turn. Invariant: every step is reported, and the test ends within the sum of the steps' limits, whatever the device
does.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from worker.contracts.gpu_tests import MAX_DETAIL_CHARS, GpuTestJob, GpuTestStep, GpuTestStepName, StepOutcome
from worker.engine.gpu_test.outcomes import StepFailedError, StepSkippedError
from worker.engine.unwanted_imports import without_unwanted_imports

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """One step, and the seconds after which it counts as hung."""

    name: GpuTestStepName
    run: Callable[[], str]
    """Returns what was measured. Raises `StepSkippedError`; any other exception is the step's failure."""
    limit_seconds: float


def steps_of(job: GpuTestJob) -> tuple[Step, ...]:
    """The steps of a job, for a process that sees its device only. Each limit is many times what the step takes on the
    slowest machine that was measured, a busy CPU; what takes long is the first import of torch and loading a model from
    a slow disk."""
    with without_unwanted_imports():
        from worker.engine.devices.selection import resolve_device
        from worker.engine.gpu_test.matrix_product import check_matrix_product
        from worker.engine.gpu_test.memory_sweep import check_memory
        from worker.engine.gpu_test.peer_sum import LIMIT_SECONDS, check_all_reduce
        from worker.engine.gpu_test.seen_device import check_seen_device
        from worker.engine.gpu_test.tiny_run import check_engine

    return (
        Step(GpuTestStepName.DEVICE, lambda: check_seen_device(job.device, job.uuid), 120),
        Step(GpuTestStepName.MATRIX_PRODUCT, lambda: check_matrix_product(resolve_device(None)), 120),
        Step(GpuTestStepName.MEMORY_SWEEP, lambda: check_memory(resolve_device(None)), 300),
        Step(GpuTestStepName.ENGINE, lambda: check_engine(job.base_model_path, job.base_model_family), 300),
        # It has a limit of its own, which ends its processes and says which of them hung.
        Step(GpuTestStepName.ALL_REDUCE, lambda: check_all_reduce(job.device, job.peer), LIMIT_SECONDS + 30),
    )


def run_steps(steps: Sequence[Step]) -> Iterator[GpuTestStep]:
    """The report of each step, as it ends."""
    failed: GpuTestStepName | None = None
    for step in steps:
        if failed is not None:
            said = f"not tried, since {failed.value} failed"
            yield GpuTestStep(name=step.name, outcome=StepOutcome.SKIPPED, seconds=0, detail=said)
            continue
        began = time.monotonic()
        outcome, detail = _outcome(step)
        seconds = time.monotonic() - began
        logger.info("%s %s after %.1f s: %s", step.name, outcome, seconds, detail)
        yield GpuTestStep(name=step.name, outcome=outcome, seconds=seconds, detail=detail[:MAX_DETAIL_CHARS])
        if outcome is StepOutcome.FAILED:
            failed = step.name


def _outcome(step: Step) -> tuple[StepOutcome, str]:
    """What became of a step. It runs on a thread of its own, because a call into a driver that hangs never returns."""
    ended: queue.Queue[tuple[StepOutcome, str]] = queue.Queue()

    def run() -> None:
        try:
            ended.put((StepOutcome.PASSED, step.run()))
        except StepSkippedError as reason:
            ended.put((StepOutcome.SKIPPED, str(reason)))
        except BaseException as error:
            logger.exception("%s failed", step.name)
            ended.put((StepOutcome.FAILED, _sentence(error)))

    threading.Thread(target=run, name=step.name, daemon=True).start()
    try:
        return ended.get(timeout=step.limit_seconds)
    except queue.Empty:
        return StepOutcome.FAILED, f"it hung: no result within {step.limit_seconds:g} s"


def _sentence(error: BaseException) -> str:
    """What the exception says, and its type unless it is the step's own verdict."""
    return str(error) if isinstance(error, StepFailedError) else f"{type(error).__name__}: {error}"
