"""How many fragments a lane generates in one call: several where a single one is too short to use the lane well.

Each pass of a model costs some time whatever its size, to start its kernels, so one pass over the members of several
fragments takes less than one pass for each. Long fragments gain nothing and would only be shared out less evenly.

Invariant: deterministic runs generate one fragment a call, because kernels may round differently for another batch size
and the size of a call depends on timing.
"""

import math

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import LaneRole
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.costs import CostKind
from worker.scheduling.core.generation_shares import GenerationShares
from worker.scheduling.core.lane_table import Lane, LaneTable
from worker.scheduling.core.messages import Fragment

LONGEST_SHARED_CALL_SECONDS = 1.0
"""A call of several fragments is expected to take no longer. What passes cost whatever their size adds up to some 70 ms
in a call of the demo (6 denoising steps and a decoding on one CPU thread): more than this gains next to nothing."""
LONGEST_CALL_OF_A_SHARE_SECONDS = 2.0
"""The same of a lane's share of what all lanes wait for, of which nothing is gained by early ends: on a slow machine a
call of the demo costs 90 ms whatever its size. Not longer, since a lane is paused or given back between calls."""


class CallSizes:
    """Finds the number of fragments of each call."""

    def __init__(
        self,
        algebra: BatchAlgebra,
        lanes: LaneTable,
        costs: CostModel,
        *,
        generators: LaneRole,
        deterministic: bool,
        shares: GenerationShares | None,
    ) -> None:
        """
        Args:
            generators: the role whose lanes generate without being lent.
            shares: where all lanes wait for the last fragment, what each would end first; `None` elsewhere.
        """
        self._lanes, self._costs, self._generators, self._shares = lanes, costs, generators, shares
        self._num_trajectories = 1 if deterministic else algebra.num_trajectories_per_call

    def num_fragments(self, lane: Lane, first: Fragment, num_waiting: int, at: float) -> int:
        """The number of fragments of the lane's next call, which begins with `first`: from 1 to `num_waiting`.

        A lane whose cost is not known yet, and one that is lent and must return after any fragment, take one.
        """
        most = min(num_waiting, self._num_trajectories // len(first.members))
        if most < 2 or lane.role is not self._generators:
            return 1
        seconds = self._costs.seconds(lane.name, CostKind.GENERATE, len(first.members))
        if seconds is None:
            return 1
        longest = LONGEST_SHARED_CALL_SECONDS if self._shares is None else LONGEST_CALL_OF_A_SHARE_SECONDS
        if seconds > 0:
            most = min(most, int(longest / seconds))
        return self._evenly(lane, max(1, most), num_waiting, at)

    def _evenly(self, lane: Lane, most: int, num_waiting: int, at: float) -> int:
        """At most `most` of those that wait: equally many in each call, give or take one, of a single lane, or of one
        whose share is known; otherwise half of an equal share, so that the first fragments come soon, the last calls
        are short and all lanes end at about the same time (factoring: Hummel, Schonberg and Flynn, Communications of
        the ACM 35(8), 1992)."""
        num_lanes = self._lanes.num(self._generators)
        share = None if self._shares is None else self._shares.share(lane, num_waiting, at)
        if share is not None:
            return math.ceil(share / math.ceil(share / most))
        if num_lanes > 1:
            return min(most, max(1, num_waiting // (2 * num_lanes)))
        # Training waits for the first call, so the larger ones come last.
        return num_waiting // math.ceil(num_waiting / most)
