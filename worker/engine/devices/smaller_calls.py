"""What a lane does when its device has not enough memory for a call: the same work in smaller calls.

```text
items ─► one call ─ out of memory ─► halves, and no larger call from now on ─► … ─► one item: `DeviceMemoryError`
```

Only work whose result does not depend on the size of its calls, but for rounding, is given to `SmallerCalls`. So a
deterministic run, which promises bits, is told what to change instead. Invariant: sizes only fall, so the number of
retries is at most the logarithm of the first size.
"""

import gc
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.memory_shortages import MemoryShortage, planned_sentence
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import DeviceMemoryError
from worker.engine.shortage_notes import note_shortage
from worker.scheduling.planning.memory import MemoryRole, lane_memory, scoring_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.described_cards import card_name, described_card
from worker.scheduling.profiles.known_models import has_profile

Item = TypeVar("Item")
Result = TypeVar("Result")

_ASKED = re.compile(r"[Tt]ried to allocate (?P<number>[\d.]+) (?P<unit>bytes|KiB|MiB|GiB)")
"""In the message of torch's allocator."""
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def release_memory() -> None:
    """Free what a failed call has left, and return it to the device."""
    gc.collect()
    get_accelerator().empty_cache()


class MemoryPlan:
    """What the plan says of the memory of this lane."""

    def __init__(self, spec: RunSpec | None, role: MemoryRole | None, *, num_gpus: int = 1) -> None:
        """
        Args:
            spec: the run's; without one, nothing is planned.
            role: the lane's; `None` for a reward lane.
            num_gpus: of the lane, which make its passes together; for a reward lane, of the lane whose card it shares.
        """
        self._spec, self._role, self._num_gpus = spec, role, num_gpus

    @property
    def keeps_sizes(self) -> bool:
        """Whether calls may not be made smaller, since the run promises bits."""
        return self._spec is not None and self._spec.pipeline.deterministic

    @contextmanager
    def explaining(self, work: str, advice: str) -> Iterator[None]:
        """Inside, too little memory for `work`, which cannot be made smaller, is a `DeviceMemoryError` as `error`."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            raise self.error(work, str(error), advice) from error

    def error(self, work: str, message: str, advice: str) -> DeviceMemoryError:
        """What is raised where a call for `work` has failed with torch's `message`, with `advice` what to change."""
        shortage = self.shortage(work, message, "")
        asked = "" if shortage.asked_bytes is None else f" by {shortage.asked_bytes / 2**30:.1f} GiB"
        return DeviceMemoryError(
            f"a device ran out of memory{asked} when it was to {work}: {advice}. {planned_sentence(shortage)}".rstrip()
        )

    def shortage(self, work: str, message: str, remedy: str) -> MemoryShortage:
        """What there is to report of a call for `work` that failed with torch's `message`."""
        found = _ASKED.search(message)
        capacity = _capacity_bytes()
        return MemoryShortage(
            work=work,
            asked_bytes=float(found["number"]) * _UNITS[found["unit"]] if found else None,
            capacity_bytes=capacity,
            planned_bytes=self._planned_bytes(capacity),
            remedy=remedy,
        )

    def _planned_bytes(self, capacity: float | None) -> dict[str, float]:
        spec, device = self._spec, None if capacity is None else described_card(card_name(capacity, None))
        if spec is None or device is None or not has_profile(spec.base_model):
            return {}
        work, lanes, role = Workload.of(spec), spec.granted_lanes, self._role
        if role is None and not work.shares_cards:
            return scoring_memory(work, device).parts
        # A shared card is full of what the lane holds that generates on it, the scorers included.
        role = role or (MemoryRole.ROLLOUT if lanes.num_rollout else MemoryRole.BOTH)
        return lane_memory(work, device.in_lane_of(self._num_gpus), role, num_ranks=lanes.num_trainer).parts


class SmallerCalls:
    """One kind of work on sequences of items, in calls as large as the device has been found to have memory for."""

    def __init__(self, plan: MemoryPlan, work: str, *, advice: str, is_exact: bool = True) -> None:
        """
        Args:
            plan: for reports.
            work: what is done, as the rest of a sentence, with `{}` for the number of items.
            advice: what to change where a single item is too much.
            is_exact: smaller calls give the same result but for rounding; otherwise nothing is retried.
        """
        self._plan, self._work, self._advice = plan, work, advice
        self._may_retry = is_exact and not plan.keeps_sizes
        self.largest: int | None = None
        """The most items of a call; `None` before the first shortage."""

    def next_of(self, waiting: deque[Sequence[Item]]) -> Sequence[Item]:
        """Take the next items off `waiting`, no more than are allowed now; what is cut off stays there, in equal
        parts as far as can be."""
        items = waiting.popleft()
        if self.largest is None or len(items) <= self.largest:
            return items
        num_calls = -(-len(items) // self.largest)
        bounds = [len(items) * number // num_calls for number in range(num_calls + 1)]
        first, *others = [items[start:end] for start, end in pairwise(bounds)]
        waiting.extendleft(reversed(others))
        return first

    def __call__(self, items: Sequence[Item], call: Callable[[Sequence[Item]], Result]) -> list[Result]:
        """The results of `call` for consecutive parts of `items`, mostly of one.

        Raises:
            DeviceMemoryError: for too little memory even for one item, or in a deterministic run.
        """
        waiting, done = deque([items]), list[Result]()
        while waiting:
            part = self.next_of(waiting)
            try:
                done.append(call(part))
                continue
            except torch.OutOfMemoryError as error:
                message = str(error)
            # Out here the failed call's tensors are no longer held by the exception.
            release_memory()
            self.shrink(len(part), message)
            waiting.appendleft(part)
        return done

    def shrink(self, num_items: int, message: str) -> None:
        """Allow half of `num_items` from now on. Raises as a call."""
        work = self._work.format(num_items)
        if num_items == 1 or not self._may_retry:
            kept = " (a deterministic run keeps the size of its calls)" if self._plan.keeps_sizes else ""
            raise self._plan.error(f"{work}{kept}", message, self._advice)
        self.largest = num_items // 2
        note_shortage(self._plan.shortage(work, message, f"in calls of {self.largest} from now on"))


def _capacity_bytes() -> float | None:
    accelerator = get_accelerator()
    return None if accelerator.device_name() == "cpu" else float(accelerator.total_memory())
