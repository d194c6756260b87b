"""How long each piece of a simulated run's work takes."""

from collections.abc import Callable

from worker.scheduling.core.costs import Cost, CostKind, CostTable
from worker.scheduling.core.messages import Action, Fragment

Piece = Action | Fragment
"""What a single duration is of: an action, or one fragment of a call."""
_MAY_LACK_COST = frozenset(
    {CostKind.PULL, CostKind.LEND, CostKind.RECLAIM, CostKind.COMMIT, CostKind.SNAPSHOT, CostKind.PUBLISH}
)
"""Kinds of work that take no time where the table has no cost for them: a run that has not done such work yet has not
measured it. Without generation, scoring or training there is no batch."""


class Durations:
    """The seconds that work takes: what it costs by the table, changed as the simulation's user wants it."""

    def __init__(
        self,
        costs: CostTable,
        *,
        vary: Callable[[float], float],
        relative_seconds: Callable[[str, CostKind, Piece], float],
    ) -> None:
        """
        Args:
            costs: in the units of `CostKind`; kinds in `_MAY_LACK_COST` may be missing.
            vary: turns an expected duration into the actual one, in seconds.
            relative_seconds: the seconds of a piece of work of a kind on a lane (or `GANG`) ÷ those that it costs.
        """
        self._costs = costs
        self._vary = vary
        self._relative_seconds = relative_seconds

    def seconds(self, lane: str, kind: CostKind, piece: Piece, num_units: int = 1) -> float:
        """The actual seconds of a piece of work. Raises `ValueError` where its kind lacks a cost that it must have."""
        cost = self._costs.get((lane, kind))
        if cost is None:
            if kind not in _MAY_LACK_COST:
                raise ValueError(
                    f"`costs` must hold {kind} on `{lane}`, got none: the simulation needs to know how long it takes"
                )
            cost = Cost()
        return self._vary(cost.seconds(num_units) * self._relative_seconds(lane, kind, piece))
