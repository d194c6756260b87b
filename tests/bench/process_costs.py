"""What the processes of a running stack cost: seconds of CPU over time, and memory, by what they are there for.

    tree of processes ─► every quarter of a second: seconds of CPU of each ─► cost between two moments, by part

A process that begins and ends between two samples, as a PostgreSQL backend of one query does, is seen in what its
parent says of children that have ended, and counts as its parent's part. Memory is PSS: pages that processes share are
divided among them, so a sum counts every page once.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType
from typing import Self

import numpy as np
import psutil

SAMPLE_SECONDS = 0.25
"""A twelfth of the demo's batch; the bench itself then takes 1 to 2 % of a core."""

PARTS = (
    ("trainer lane", "ray::TrainerActor"),
    ("rollout lane", "ray::RolloutActor"),
    ("reward lane", "ray::RewardActor"),
    ("imported libraries", "worker.engine.forkserver"),
    ("driver", "worker.engine"),
    ("re-planning", "worker.scheduling.replanning"),
    ("Ray", "ray"),
    ("web", "uvicorn"),
    ("tasks", "celery"),
    ("database", "postgres"),
    ("broker", "valkey"),
)
"""(what a process is there for, what its command line then contains), the first match decides."""
OTHER = "start and supervision"


def part_of(command_line: str) -> str:
    """What a process with this command line is there for."""
    return next((part for part, mark in PARTS if mark in command_line), OTHER)


@dataclass
class ProcessCosts:
    """Samples the tree of `root` on a thread of its own while the block lasts."""

    root: psutil.Process
    _times: list[float] = field(default_factory=list)
    _seconds: list[dict[int, float]] = field(default_factory=list)
    """For each sample: seconds of CPU by process id."""
    _parts: dict[int, str] = field(default_factory=dict)
    _started: dict[int, float] = field(default_factory=dict)
    """When each process started."""
    _parents: dict[int, int] = field(default_factory=dict)
    _told: dict[int, float] = field(default_factory=dict)
    """Of what a process says of its ended children: the seconds of those that were sampled themselves."""
    _unseen: dict[int, float] = field(default_factory=dict)
    """The rest of it: of children that no sample met, and of others after their last sample."""
    _ended: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._sample_all, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._thread is not None
        self._ended.set()
        self._thread.join()

    def cpu_seconds(self, start: float, end: float) -> dict[str, float]:
        """Seconds of CPU between two moments of Unix time by part, interpolated between samples."""
        by_part: dict[str, float] = defaultdict(float)
        for process in {process for sample in self._seconds for process in sample}:
            known = [
                (at, sample[process])
                for at, sample in zip(self._times, self._seconds, strict=True)
                if process in sample
            ]
            times, seconds = zip(*known, strict=True)
            first = 0.0 if self._started[process] > start else float(np.interp(start, times, seconds))
            by_part[self._parts[process]] += float(np.interp(end, times, seconds)) - first
        return dict(by_part)

    def _sample_all(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        sample: dict[int, float] = {}
        reaped: dict[int, float] = {}
        for process in tree(self.root):
            try:
                # Ray names an actor's process after its class only once the actor is there.
                part, used = part_of(" ".join(process.cmdline())), process.cpu_times()
                started, parent = process.create_time(), process.ppid()
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
            sample[process.pid] = used.user + used.system
            reaped[process.pid] = used.children_user + used.children_system
            self._started[process.pid], self._parents[process.pid] = started, parent
            # A process that is ending has no command line any more.
            if part is not OTHER or process.pid not in self._parts:
                self._parts[process.pid] = part
        self._add_unseen(sample, reaped)
        self._times.append(time.time())
        self._seconds.append(sample)

    def _add_unseen(self, sample: dict[int, float], reaped: dict[int, float]) -> None:
        """Add to the `sample` what children that have ended took and no sample has seen; `reaped` is what each process
        says of all its ended children."""
        before = self._seconds[-1] if self._seconds else {}
        for process in before.keys() - sample.keys():
            parent = self._parents[process]
            self._told[parent] = self._told.get(parent, 0.0) + before[process]
        for process, seconds in reaped.items():
            # Children that ended before the first sample are nobody's cost here.
            told = self._told.setdefault(process, seconds if not self._seconds else 0.0)
            # A parent that does not wait for its children is told nothing of them.
            self._unseen[process] = max(self._unseen.get(process, 0.0), seconds - told)
            sample[process] += self._unseen[process]


def tree(root: psutil.Process) -> list[psutil.Process]:
    """A process and all its descendants."""
    return [root, *root.children(recursive=True)]


def memory_mb(root: psutil.Process) -> dict[str, float]:
    """PSS by part, in MB of 10⁶ bytes."""
    by_part: dict[str, float] = defaultdict(float)
    for process in tree(root):
        try:
            by_part[part_of(" ".join(process.cmdline()))] += process.memory_full_info().pss / 1e6
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return dict(by_part)
