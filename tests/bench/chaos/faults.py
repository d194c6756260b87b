"""The faults: what each does to a live run, and what takes it back, where anything does."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tests.bench.chaos.scene import NotStruckError, Scene
from tests.bench.chaos.stack_parts import Part

ROLLOUT, TRAINER, REWARD = "rollout-0", "trainer-0", "reward-0"
LONG_SECONDS = 30.0
"""Longer than a driver may be silent (`driver_health.HEARTBEAT_STALE`) with a round of the reconciler."""
SHORT_SECONDS = 6.0
"""Half of what it may be."""
STEP_SECONDS = 3600.0
"""As far as a clock in a wrong time zone is off; tokens and leases count less."""
CHECKPOINT_FILES = ("rank-00000-000.safetensors", "random-00000.json", "manifest.json")
"""What the run's checkpoints hold: `test_damage.py` has the same, and fails where there is another."""


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    strike: Callable[[Scene], None]
    heal: Callable[[Scene], None] | None = None
    lasts_seconds: float = 0.0
    """How long it lasts where it is healed; it is healed at the run's end at the latest."""
    may_lose_driver: bool = True
    """Whether a new attempt is right: not where the driver, its trainer rank and its messages are well."""
    lane: str | None = None
    """The lane that it strikes, if any: no other may be lost with it."""


def _kill_part(part: Part) -> Fault:
    loses_driver = part in (Part.DRIVER, Part.RAY)
    return Fault(
        f"kill -9: {part}", lambda scene: scene.signal_part(part, signal.SIGKILL), may_lose_driver=loses_driver
    )


def _signal_lane(verb: str, lane: str, number: signal.Signals) -> Fault:
    role = lane.partition("-")[0]
    return Fault(
        f"{verb}: {role} lane", lambda scene: scene.signal_lane(lane, number), may_lose_driver=False, lane=lane
    )


def _fill_disk(scene: Scene) -> None:
    if scene.disk is None:
        raise NotStruckError("mounting a small disk takes root")
    scene.disk.fill()


def _empty_disk(scene: Scene) -> None:
    assert scene.disk is not None, "it was filled"
    scene.disk.empty()


def _step_clocks(scene: Scene, *, web_seconds: float = 0.0, cluster_seconds: float = 0.0) -> None:
    if scene.clocks is None:
        raise NotStruckError("stepping clocks takes a C compiler")
    scene.clocks.step(web_seconds=web_seconds, cluster_seconds=cluster_seconds)


def _cut(scene: Scene, *, is_cut: bool) -> None:
    scene.link.is_cut = is_cut


def _tear(file: str, scene: Scene) -> None:
    """Kill the driver, and cut off a file of the checkpoint that the next attempt is to go on from."""
    scene.signal_part(Part.DRIVER, signal.SIGKILL)
    # What it had sent is stored at once; of what it had not, the next attempt knows nothing.
    time.sleep(1.0)
    kept = scene.rest.results(f"/runs/{scene.run}/checkpoints")
    if not kept:
        raise NotStruckError("the run has no checkpoint yet")
    path = Path(urlsplit(kept[0]["uri"]).path) / file
    os.truncate(path, path.stat().st_size // 2)


def _partition(name: str, seconds: float, *, may_lose_driver: bool) -> Fault:
    cut, mend = partial(_cut, is_cut=True), partial(_cut, is_cut=False)
    return Fault(name, cut, mend, seconds, may_lose_driver)


def _clock(name: str, *, web_seconds: float = 0.0, cluster_seconds: float = 0.0) -> Fault:
    step = partial(_step_clocks, web_seconds=web_seconds, cluster_seconds=cluster_seconds)
    return Fault(name, step, _step_clocks, LONG_SECONDS, may_lose_driver=False)


FAULTS = (
    *(_kill_part(part) for part in (Part.DRIVER, Part.WEB, Part.TASKS, Part.VALKEY, Part.POSTGRES, Part.RAY)),
    *(_signal_lane("kill -9", lane, signal.SIGKILL) for lane in (ROLLOUT, REWARD, TRAINER)),
    *(_signal_lane("SIGSTOP", lane, signal.SIGSTOP) for lane in (ROLLOUT, TRAINER)),
    Fault("SIGSTOP: driver", lambda scene: scene.signal_part(Part.DRIVER, signal.SIGSTOP)),
    Fault("disk full", _fill_disk, _empty_disk, LONG_SECONDS, may_lose_driver=False),
    _clock("clock +1 h: web", web_seconds=STEP_SECONDS),
    _clock("clock -1 h: web", web_seconds=-STEP_SECONDS),
    _clock("clock +1 h: cluster", cluster_seconds=STEP_SECONDS),
    _clock("clock -1 h: cluster", cluster_seconds=-STEP_SECONDS),
    _partition("partition, 6 s", SHORT_SECONDS, may_lose_driver=False),
    _partition("partition, 30 s", LONG_SECONDS, may_lose_driver=True),
    *(Fault(f"torn checkpoint: {file}", partial(_tear, file)) for file in CHECKPOINT_FILES),
)
