"""The driver's entry point: `python -m worker.engine`, submitted as a job through Ray's Jobs API.

It exchanges its single-use code for spec and token, runs the controller, and reports how the run ended. The exit status
is 0 when the run was completed, stopped, cancelled or fenced by a newer attempt, and not 0 when it failed or lost its
nodes.
"""

import logging
import os
import signal
import sys
import traceback

import ray

from worker.contracts.events import SoftwareEvent
from worker.contracts.ingest import TRACEPARENT_VARIABLE
from worker.contracts.lanes import CPU_DEVICE
from worker.contracts.states import RunState
from worker.engine.build import build_components
from worker.engine.control.cluster_lanes import ACTOR_CLASSES, LaneActors, LanesLostError
from worker.engine.control.command_queue import RunCancelledError, StopOverdueError
from worker.engine.control.surviving_lanes import NAMESPACE
from worker.engine.controller import Controller
from worker.engine.errors import EngineError
from worker.engine.forkserver.server_start import can_fork, start_server
from worker.engine.telemetry.run_bootstrap import fetch_prompts, trade_bootstrap_code
from worker.engine.telemetry.run_telemetry import RunTelemetry, TerminatedError
from worker.engine.telemetry.software_versions import software_versions
from worker.ingest.web_connection import FencedError, WebRefusedError, job_environment

logger = logging.getLogger("worker.engine")

SIGTERM_FLUSH_SECONDS = 2.0
"""How long a terminated driver sends its last events: Ray's Jobs API kills it 3 s after SIGTERM."""


def main(actor_classes: LaneActors = ACTOR_CLASSES) -> int:
    """Run one attempt on lanes of these classes, and return the exit status."""
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(levelname)s {trace_of_lines()}%(name)s: %(message)s")
    base_url, code = job_environment()
    try:
        answer = trade_bootstrap_code(base_url, code)
    except FencedError as error:
        logger.info("nothing to do: %s", error)
        return 0
    if can_fork() and any(grant.device == CPU_DEVICE for grant in answer.lanes):
        # It imports while this process finds the cluster and its lanes are placed.
        start_server()
    with RunTelemetry(base_url, answer) as telemetry:
        try:
            ray.init(address="auto", namespace=NAMESPACE, log_to_driver=False)
            # After `ray.init`, whose own handler would end the driver so that it reports a failed run.
            signal.signal(signal.SIGTERM, lambda number, frame: telemetry.terminate())
            telemetry.client.emit(SoftwareEvent, versions=software_versions())
            prompts = fetch_prompts(base_url, answer)
            controller = Controller(build_components(answer, prompts, telemetry, actor_classes))
            try:
                controller.run()
            finally:
                controller.close()
        except BaseException as error:
            return report_end(telemetry, error)
        state, reason = controller.outcome
        telemetry.finish(state, reason=reason)
        controller.tidy()
        return 0


def trace_of_lines() -> str:
    """What each line of the log says of the trace that the run belongs to; empty without traces."""
    parts = os.environ.get(TRACEPARENT_VARIABLE, "").split("-")
    return f"trace_id={parts[1]} " if len(parts) > 1 else ""


def report_end(telemetry: RunTelemetry, error: BaseException) -> int:
    """Report the end of a run whose controller raised `error`, and return the exit status."""
    match error:
        case FencedError():
            logger.info("fenced: %s", error)
            return 0
        case RunCancelledError():
            telemetry.finish(RunState.CANCELLED, reason="cancelled by a user")
            return 0
        case StopOverdueError():
            telemetry.finish(RunState.CANCELLED if error.checkpoint is None else RunState.STOPPED, reason=str(error))
            return 0
        case TerminatedError():
            logger.warning("the driver was asked to end (SIGTERM)")
            telemetry.client.flush(SIGTERM_FLUSH_SECONDS)
            return 128 + signal.SIGTERM
        case LanesLostError():
            # No end is reported: the web finds the job over, and begins the next attempt, as often as is allowed.
            logger.error("this attempt cannot go on: %s", error)
            return 1
        case WebRefusedError():
            logger.error("the web refuses this attempt's events: %s", error)
            return 1
    details = "".join(traceback.format_exception(error))
    logger.error("the run failed:\n%s", details)
    telemetry.finish(RunState.FAILED, reason=failure_reason(error), details=details)
    return 1


def failure_reason(error: BaseException) -> str:
    """One sentence for the user. Ray wraps an error raised on a lane and adds its traceback; the reason is its cause's
    message."""
    cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
    if isinstance(cause, EngineError | ValueError):
        return str(cause)
    return f"{type(cause).__name__}: {cause}"


if __name__ == "__main__":
    sys.exit(main())
