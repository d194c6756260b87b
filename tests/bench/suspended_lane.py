"""What a run on `auto` does when one of its two lanes is stopped most of the time.

    make bench-suspended-lane
    python -m tests.bench.suspended_lane [--rounds 1] [--out var/bench/suspended_lane.json]

The demo's work on two colocated lanes. From the end of batch `STOPPED_AFTER` on, the process of one is suspended and
runs for short moments only, as on a machine that others overload or a card that throttles: the other waits for it in
every optimizer step. In turns with it the same work runs on one lane alone, which is what a run without the stopped
lane can reach. Seconds of a batch are from one published version to the next, and medians.
"""

import argparse
import json
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from tests.bench.overhead import AUTO, NUM_WARM_UP, PRESET, RUN_SECONDS, spec_of
from tests.bench.process_costs import part_of, tree
from tests.e2e.rest import Rest
from tests.e2e.stack import running_stack

OUTPUT = Path("var/bench/suspended_lane.json")
"""Where the report is written by default."""
STOPPED_AFTER = 8
"""Batches before the lane is stopped, of which those that warm up are not measured."""
NUM_BATCHES = 36
"""Batches of a run with a stopped lane: enough for the change and some twenty batches after it."""
NUM_ALONE = 14
"""Batches of the run on one lane."""
RUNNING_SECONDS = 0.03
"""Seconds for which the process runs in turn: a few of the scheduler's time slices."""
SHARES = (1 / 5, 1 / 20)
"""Shares of time in which the process runs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run with a stopped lane did; seconds are of a batch."""

    share_running: float
    alike: float
    """Before the lane was stopped."""
    stopped: float
    """With the stopped lane, until the run changed."""
    num_batches_stopped: int
    """The number of those batches."""
    changed: float | None
    """After the change; `None` without one."""
    promised: float | None
    """What the plan promised after the change."""
    reason: str
    """That of the change, or the newest reason against one."""
    move_seconds: float
    predicted_move_seconds: float


@contextmanager
def mostly_suspended(process: psutil.Process, share_running: float) -> Iterator[None]:
    """Inside, the process runs for `share_running` of the time, unless it ends."""
    ended = threading.Event()
    stopped_seconds = RUNNING_SECONDS * (1 / share_running - 1)

    def take_turns() -> None:
        with suppress(psutil.NoSuchProcess):
            while not ended.is_set():
                process.suspend()
                ended.wait(stopped_seconds)
                process.resume()
                ended.wait(RUNNING_SECONDS)

    thread = threading.Thread(target=take_turns)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def a_trainer_lane(root: psutil.Process) -> psutil.Process:
    """The process of the trainer lane that started last."""
    found = []
    for process in tree(root):
        with suppress(psutil.Error):
            if part_of(" ".join(process.cmdline())) == "trainer lane":
                found.append((process.create_time(), process.pid, process))
    return max(found)[-1]


def batch_seconds(rest: Rest, run: str) -> list[float]:
    """[batch]: seconds from the version before to the one that the batch published."""
    ends = sorted(version["at"] for version in rest.get(f"/runs/{run}/timeline")["versions"])
    return [after - before for before, after in pairwise(ends)]


def alone(rest: Rest, document: dict[str, Any]) -> float:
    """Seconds of a batch on one colocated lane."""
    spec = spec_of(document, NUM_ALONE, {"placement": "colocated"})
    spec["lanes"] = spec["lanes"] | {"num_rollout": 0, "num_trainer": 1}
    run = rest.start_run("one lane", spec)
    rest.run_when(run, lambda body: body["state"] == "completed", "the end of the run", RUN_SECONDS)
    return statistics.median(batch_seconds(rest, run)[NUM_WARM_UP:])


def with_stopped_lane(rest: Rest, root: psutil.Process, document: dict[str, Any], share: float) -> Outcome:
    """A run of which one lane is stopped but for a share of the time."""
    run = rest.start_run(f"a lane runs {share:.0%} of the time", spec_of(document, NUM_BATCHES, AUTO.pipeline))
    rest.run_when(run, lambda body: body["num_batches_done"] >= STOPPED_AFTER, "the batches before", RUN_SECONDS)
    with mostly_suspended(a_trainer_lane(root), share):
        rest.run_when(run, lambda body: body["num_batches_done"] >= NUM_BATCHES - 1, "the last batch", RUN_SECONDS)
    rest.run_when(run, lambda body: body["state"] == "completed", "the end of the run", RUN_SECONDS)
    seconds, steps = batch_seconds(rest, run), rest.get(f"/runs/{run}/plan")["steps"]
    change = steps[1] if len(steps) > 1 else None
    changed_at = change["since_batch"] if change else NUM_BATCHES
    return Outcome(
        share_running=share,
        alike=statistics.median(seconds[NUM_WARM_UP:STOPPED_AFTER]),
        stopped=statistics.median(seconds[STOPPED_AFTER:changed_at]),
        num_batches_stopped=changed_at - STOPPED_AFTER,
        changed=statistics.median(seconds[changed_at + 1 :]) if change else None,
        promised=change["batch_seconds"] if change else None,
        reason=change["reason"] if change else _newest_answer(rest, run),
        move_seconds=change["promise"]["move_seconds"] if change else 0.0,
        predicted_move_seconds=change["promise"]["predicted_move_seconds"] if change else 0.0,
    )


def _newest_answer(rest: Rest, run: str) -> str:
    """What the log says last of how the run should go on."""
    texts = (line["text"] for line in rest.results(f"/runs/{run}/logs?limit=200"))
    return next((text for text in texts if text.startswith("after batch ")), "never asked")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    options = parser.parse_args()
    rounds = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        rest, root = Rest.log_in(stack), psutil.Process(stack.pid)
        document = rest.preset(PRESET)
        for _ in range(options.rounds):
            row: dict[str, Any] = {"alone": alone(rest, document), "stopped": []}
            print(f"one lane alone: {row['alone']:.2f} s a batch", flush=True)
            for share in SHARES:
                outcome = with_stopped_lane(rest, root, document, share)
                print(outcome, flush=True)
                row["stopped"].append(asdict(outcome))
            rounds.append(row)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps({"rounds": rounds}, indent=1))


if __name__ == "__main__":
    main()
