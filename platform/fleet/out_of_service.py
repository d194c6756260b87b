"""What takes no work and why, as sentences for those who wait for it."""

from collections import Counter
from collections.abc import Mapping

from fleet.models import LaneKind
from fleet.selectors import lanes_without_work
from fleet.states.standing import PoolState, Standing, of_lane

MAX_PLACES = 3
"""Places that are named one by one; more are counted."""
_IN_WORDS = {
    PoolState.CORDONED: "is cordoned",
    PoolState.DRAINING: "is draining",
    PoolState.MAINTENANCE: "is in maintenance",
    PoolState.AWAITING_TEST: "waits for its test",
    PoolState.FAULTY: "is faulty",
    PoolState.LOST: "is lost",
}


def lanes_out_of_service(pool: str | None = None) -> Mapping[LaneKind, int]:
    """Number of lanes of a pool, or of all, by kind that take no work now, held or not."""
    return Counter(LaneKind(lane.kind) for lane in lanes_without_work(pool))


def why_out_of_service(pool: str | None = None) -> str:
    """Which nodes and GPUs of a pool, or of all, take no work, since when, by whom and why; empty where all do."""
    standings = (of_lane(lane) for lane in lanes_without_work(pool))
    # A lane whose only card was moved to another node has none that could be out of service.
    places = list(dict.fromkeys(standing for standing in standings if not standing.takes_work))
    named = [_sentence(standing) for standing in places[:MAX_PLACES]]
    rest = len(places) - len(named)
    return "; ".join(named + ([f"{rest} more places"] if rest else []))


def _sentence(standing: Standing) -> str:
    since = f" since {standing.since:%d %b %H:%M}" if standing.since else ""
    until = f" until {standing.until:%d %b %H:%M}" if standing.until else ""
    by = f" by {standing.changed_by}" if standing.changed_by else ""
    why = f" ({standing.reason})" if standing.reason else ""
    return f"{standing.place} {_IN_WORDS[standing.state]}{since}{until}{by}{why}"
