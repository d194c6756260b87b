"""One run with one fault: from its start to what is left of it, as a row of the table."""

import os
import random
import time
from typing import Any

import psutil

from tests.bench.chaos.faults import Fault
from tests.bench.chaos.run_outcome import RunOutcome, compared
from tests.bench.chaos.scene import NotStruckError, Scene
from tests.bench.chaos.watched_run import Sighting, WatchedRun
from tests.bench.process_costs import ProcessCosts
from tests.e2e.rest import Rest, wait_until
from worker.contracts.lanes import StartStep

NUM_BATCHES = 16
FIRST_BATCH, LAST_BATCH = 5, 9
"""A fault comes after so many batches: there are two checkpoints to go on from, and enough of the run is left."""
RUN_SECONDS = 600.0
"""The longest recovery is a collective that waits for a stopped rank; a busy machine takes minutes over it."""
FREED_SECONDS = 90.0
HALT_BATCHES = 4.0
"""A run that shows no progress for less than so many batches did not halt: other work on the machine does as much."""
LEAST_CPU_SECONDS = 0.1
"""What is not worth listing of the seconds of CPU by part until the run goes on."""
HEALED = "(the fault was taken back)"


def spec_of(rest: Rest) -> dict[str, Any]:
    """The shapes demo in little, deterministic, with a checkpoint every second batch."""
    spec = rest.preset("shapes-quick")
    return spec | {
        "num_batches": NUM_BATCHES,
        "pipeline": spec.get("pipeline", {}) | {"placement": "disaggregated", "deterministic": True},
        "checkpoint": {"every_num_batches": 2, "num_kept": 3},
    }


def undisturbed(scene: Scene) -> tuple[RunOutcome, float]:
    """The outcome of a run that nothing happens to, and its seconds a batch."""
    scene.rest.run_when(scene.run, lambda run: run["num_batches_done"] >= 1, "the first batch", RUN_SECONDS)
    began = time.monotonic()
    scene.rest.run_when(scene.run, lambda run: run["state"] == "completed", "the run's end", RUN_SECONDS)
    seconds = (time.monotonic() - began) / (NUM_BATCHES - 1)
    wait_until(lambda: scene.rest.num_lanes_held() == 0, "the lanes", FREED_SECONDS)
    return RunOutcome.of(scene), seconds


def struck(
    scene: Scene, fault: Fault, draw: random.Random, expected: RunOutcome, batch_seconds: float
) -> dict[str, Any]:
    """The row of one fault at one moment: any of a batch, which takes `batch_seconds`."""
    batch, seconds_in = draw.randint(FIRST_BATCH, LAST_BATCH), draw.uniform(0.0, batch_seconds)
    load = os.getloadavg()[0]
    row: dict[str, Any] = {"fault": fault.name, "batch": batch, "seconds_in": round(seconds_in, 2), "load": load}
    scene.rest.run_when(
        scene.run, lambda run: run["num_batches_done"] >= batch, f"batch {batch}", RUN_SECONDS, poll_seconds=0.1
    )
    time.sleep(seconds_in)
    run = scene.rest.get(f"/runs/{scene.run}")
    watched = WatchedRun(scene, time.monotonic(), run["num_batches_done"])
    watched.skip_past()
    watched.struck_at = time.monotonic()
    try:
        with ProcessCosts(psutil.Process(scene.stack.pid)) as costs:
            fault.strike(scene)
            _follow(watched, fault)
    except NotStruckError as error:
        return row | {"not_struck": str(error)}
    finally:
        if fault.heal is not None:
            fault.heal(scene)
    _, went_on = watched.longest_halt
    cpu = costs.cpu_seconds(watched.struck_at_unix, watched.struck_at_unix + went_on)
    row["cpu_seconds"] = {part: round(seconds, 1) for part, seconds in cpu.items() if seconds >= LEAST_CPU_SECONDS}
    return row | _row(watched, fault, expected, batch_seconds)


def _follow(watched: WatchedRun, fault: Fault) -> None:
    """Follow the run to its end, and heal the fault when its time has come."""
    heals = [] if fault.heal is None else [fault.heal]

    def heal_in_time(seconds: float) -> None:
        if heals and seconds >= fault.lasts_seconds:
            heals.pop()(watched.scene)
            watched.sightings.append(Sighting(round(seconds, 1), HEALED))

    watched.follow(RUN_SECONDS, heal_in_time)


def _row(watched: WatchedRun, fault: Fault, expected: RunOutcome, batch_seconds: float) -> dict[str, Any]:
    scene = watched.scene
    ended_at = time.monotonic()
    is_freed = _is_freed(scene)
    freed_seconds = round(time.monotonic() - ended_at, 1) if is_freed else None
    attempts = scene.rest.results(f"/runs/{scene.run}/attempts")
    difference = compared(RunOutcome.of(scene), expected)
    halt, went_on = watched.longest_halt
    told = [each.seconds for each in watched.sightings if each.text != HEALED and "→ completed" not in each.text]
    row = {
        "state": watched.state or "not known",
        "detect_seconds": told[0] if told else None,
        "halt_seconds": round(halt, 1),
        "recover_seconds": round(went_on, 1) if halt > HALT_BATCHES * batch_seconds else 0.0,
        "away_seconds": round(watched.away_seconds, 1),
        "num_attempts": len(attempts),
        "batches_redone": _batches_redone(scene),
        "freed_seconds": freed_seconds,
        "processes_left": scene.lane_processes_left(),
        **difference,
        "course": _course(scene, watched.struck_at_unix),
        "seen": [f"{each.seconds:.1f} s: {each.text}" for each in watched.sightings],
    }
    return row | {"problems": _problems(row, fault)}


def _course(scene: Scene, struck_at: float) -> list[str]:
    """How the run came back: its changes of state, phase and lanes from the fault to the first new version."""
    types = "transition,software,phase,lane_start,resumed,publish"
    found = []
    for event in scene.rest.results(f"/runs/{scene.run}/events?types={types}&after_seq=0&limit=1000"):
        seconds = event["at"] - struck_at
        if seconds > 0 and event["type"] != "publish":
            body = event["body"]
            what = body.get("phase") or body.get("step") or body.get("new") or ""
            found.append(f"{seconds:.1f} s: {event['type']} {what} {' '.join(body.get('lanes', ()))}".rstrip())
        elif seconds > 0 and found:
            found.append(f"{seconds:.1f} s: publish {event['body']['policy_version']}")
            if sum("publish" in each for each in found) == 2:
                break
    return found


def _is_freed(scene: Scene) -> bool:
    deadline = time.monotonic() + FREED_SECONDS
    while scene.rest.num_lanes_held() or scene.lane_processes_left():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.5)
    return True


def _batches_redone(scene: Scene) -> int:
    """Batches of which the same version was published more than once."""
    events = scene.rest.results(f"/runs/{scene.run}/events?types=publish&after_seq=0&limit=1000")
    versions = [event["body"]["policy_version"] for event in events]
    # A resumed attempt publishes the version of its checkpoint once more, without training.
    num_resumed = len(scene.rest.results(f"/runs/{scene.run}/events?types=resumed&after_seq=0&limit=1000"))
    return max(0, len(versions) - len(set(versions)) - num_resumed)


def _lanes_started(course: list[str]) -> set[str]:
    """The lanes that were started after the fault."""
    requested = (line.partition(f" lane_start {StartStep.REQUESTED} ")[2] for line in course)
    return {lane for lanes in requested for lane in lanes.split()}


def _problems(row: dict[str, Any], fault: Fault) -> list[str]:
    """What is not as it should be; empty for a fault that the product takes well."""
    found = []
    if row["state"] != "completed":
        found.append(f"the run is {row['state']}")
    found += [
        f"{row[key]} {what}"
        for key, what in (
            ("points_doubled", "points doubled"),
            ("points_missing", "points missing"),
            ("points_too_many", "points too many"),
            ("points_different", "points different"),
        )
        if row[key]
    ]
    if not row["weights_equal"]:
        found.append("other weights")
    if not row["has_download"]:
        found.append("no LoRA to download")
    if row["freed_seconds"] is None:
        found.append(f"lanes not freed, processes left: {row['processes_left']}")
    if row["num_attempts"] > 1 and not fault.may_lose_driver:
        found.append(f"{row['num_attempts']} attempts, though the driver was well")
    if row["num_attempts"] == 1 and (lost := _lanes_started(row["course"]).difference([fault.lane])):
        found.append(f"{', '.join(sorted(lost))} started again, though nothing struck them")
    return found
