"""What a fault has to work with: the stack, the run on it, its link, disk and clocks."""

import os
import signal
from dataclasses import dataclass
from typing import Any

from tests.bench.chaos.cut_link import CutLink
from tests.bench.chaos.small_disk import SmallDisk
from tests.bench.chaos.stack_parts import Part, is_below, pid_of
from tests.bench.chaos.stepped_clock import SteppedClocks
from tests.e2e.rest import Rest
from tests.e2e.stack import Stack


class NotStruckError(Exception):
    """The fault could not be done, so that nothing is learnt from what follows."""


@dataclass(frozen=True, slots=True)
class Scene:
    stack: Stack
    rest: Rest
    link: CutLink
    disk: SmallDisk | None
    """None where this machine lets nothing be mounted."""
    clocks: SteppedClocks | None
    """None where it has no C compiler."""
    run: str
    """The run's id."""

    def signal_part(self, part: Part, number: signal.Signals) -> None:
        """Raises `NotStruckError` where the stack has no such process."""
        pid = pid_of(self.stack, part)
        if pid is None:
            raise NotStruckError(f"the stack has no process of the {part}")
        os.kill(pid, number)

    def signal_lane(self, lane: str, number: signal.Signals) -> None:
        """Signal a lane's process, whose id the run has reported. Raises `NotStruckError` where it has none."""
        pid = {info["lane"]: info["pid"] for info in self.lane_reports()[-1]}.get(lane)
        if pid is None or not is_below(self.stack, pid):
            raise NotStruckError(f"the run has no process for {lane}")
        os.kill(pid, number)

    def lane_reports(self) -> list[list[dict[str, Any]]]:
        """The run's lanes, as often as it has reported them, the newest last."""
        events = self.rest.results(f"/runs/{self.run}/events?types=lanes")
        return [event["body"]["lanes"] for event in events]

    def lane_processes_left(self) -> list[int]:
        """Processes of any of the run's lanes that are still there."""
        pids = {info["pid"] for report in self.lane_reports() for info in report}
        return sorted(pid for pid in pids if is_below(self.stack, pid))
