"""Notices a follower that stops following before it is told to, on a thread beside the predictions.

A collective of an accelerator with a rank that is gone does not end by itself, and one of gloo does not while the rank
that failed lives on: so whoever waits in it has to be told.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

import ray
from ray import ObjectRef

LOOK_SECONDS = 1.0
"""How long a look takes at most, which delays the end of a call by nothing: it is not waited for."""
GRACE_SECONDS = 5.0
"""How long a death is waited for after another failure: where a rank dies, the connections of the others break before
Ray knows of it (within a second on one node)."""


class FollowWatch:
    """Watches from its creation until `stop`."""

    def __init__(
        self, refs: Mapping[int, ObjectRef], *, on_failure: Callable[[], None], patience_seconds: float = 0.0
    ) -> None:
        """
        Args:
            refs: the followers' open calls, by rank.
            on_failure: called once, on another thread, when one of them has failed.
            patience_seconds: how long `stop` is waited for before, unless a process has died.
        """
        self._refs = dict(refs)
        self._on_failure, self._patience_seconds = on_failure, patience_seconds
        self._failures: dict[int, Exception] = {}
        self._has_failed, self._is_stopped = threading.Event(), threading.Event()
        threading.Thread(target=self._watch, name="follow-watch", daemon=True).start()

    def stop(self) -> None:
        """The followers were told to end: their calls returning is no failure any more."""
        self._is_stopped.set()

    @property
    def seen(self) -> dict[int, Exception]:
        """What followers have been seen to fail with, by rank."""
        return dict(self._failures) if self._has_failed.is_set() else {}

    def failures(self) -> dict[int, Exception]:
        """What followers have failed with, by rank, waiting for it: empty where none has failed within the grace."""
        self._has_failed.wait(2 * GRACE_SECONDS + LOOK_SECONDS)
        self.stop()
        return dict(self._failures)

    def _watch(self) -> None:
        waiting = dict(self._refs)
        while waiting and not self._is_stopped.is_set():
            ready, _ = ray.wait(list(waiting.values()), num_returns=1, timeout=LOOK_SECONDS)
            # They may have returned just before the watch was stopped.
            if ready and not self._is_stopped.is_set():
                self._take(waiting, ready)
            if self._failures:
                self._take_further(waiting)
                self._has_failed.set()
                if self._has_death or not self._is_stopped.wait(self._patience_seconds):
                    self._on_failure()
                return

    def _take(self, waiting: dict[int, ObjectRef], ready: Sequence[ObjectRef]) -> None:
        """Move those that are ready out of `waiting`, and note what they have failed with."""
        for rank in [rank for rank, ref in waiting.items() if ref in ready]:
            try:
                ray.get(waiting.pop(rank))
            except Exception as error:
                self._failures[rank] = error

    def _take_further(self, waiting: dict[int, ObjectRef]) -> None:
        """Take the further failures, until one is a death or the grace is over."""
        deadline = time.monotonic() + GRACE_SECONDS
        while waiting and not self._has_death and (left := deadline - time.monotonic()) > 0:
            ready, _ = ray.wait(list(waiting.values()), num_returns=1, timeout=left)
            self._take(waiting, ready)

    @property
    def _has_death(self) -> bool:
        return any(isinstance(error, ray.exceptions.RayActorError) for error in self._failures.values())
