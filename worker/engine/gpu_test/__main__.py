"""The entry of the test's job: `python -P -m worker.engine.gpu_test`.

```text
bootstrap code ─► GpuTestJob ─► sees its GPU only ─► `sequence`: a report after each step, the last one final
```

Invariant: the job sees the GPU that it tests and no other, so torch is imported after that GPU is known.
"""

import logging
import os
import sys

from worker.contracts.gpu_tests import (
    GPU_TEST_BOOTSTRAP_PATH,
    GPU_TEST_REPORT_PATH,
    GpuTestJob,
    GpuTestReport,
    GpuTestStep,
)
from worker.contracts.ingest import BootstrapRequest
from worker.engine.devices.visibility import see_only
from worker.engine.gpu_test.sequence import run_steps, steps_of
from worker.ingest.web_connection import FencedError, WebConnection, WebUnreachableError, ask, job_environment

logger = logging.getLogger("worker.engine.gpu_test")


def main() -> int:
    """Test one GPU. Returns the exit status: 0 when all is reported, whatever the verdict, or the web no longer wants
    to know."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    base_url, code = job_environment()
    try:
        body = BootstrapRequest(code=code).model_dump_json().encode()
        job = GpuTestJob.model_validate_json(ask(WebConnection(base_url), "POST", GPU_TEST_BOOTSTRAP_PATH, body))
        see_only(job.device)
        carry_out(job, WebConnection(base_url, job.token))
    except FencedError as error:
        logger.info("the web no longer wants this test: %s", error)
    return 0


def carry_out(job: GpuTestJob, connection: WebConnection) -> None:
    """Run all steps and report after each. Raises as `ask` does when the last report does not arrive."""
    path, steps, ended = GPU_TEST_REPORT_PATH.format(test=job.test), steps_of(job), list[GpuTestStep]()
    for step in run_steps(steps):
        ended.append(step)
        report = GpuTestReport(steps=tuple(ended), is_final=len(ended) == len(steps))
        try:
            ask(connection, "POST", path, report.model_dump_json().encode())
        except WebUnreachableError as error:
            if report.is_final:
                raise
            # The next report holds this step too.
            logger.warning("the report of %s did not arrive: %s", step.name, error)


if __name__ == "__main__":
    try:
        status = main()
    except Exception:
        logger.exception("the test could not be carried out")
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # A step that hangs in a driver keeps its thread, for which an ordinary exit may wait for ever.
    os._exit(status)
