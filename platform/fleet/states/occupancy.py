"""Who had the pool's lanes, and which were idle or out of service, over a window: the areas of a chart.

    uses ────────────► a lane is a project's, or a test's, while it is held
    state changes ───► else it is out of service, in the state of its node, its GPUs or itself
    neither ─────────► else it is idle

Invariant: at every moment every lane counts once, so the areas add up to the lanes that there were. A lane that does
not exist any more counts for whom it was held, and its idle time is not known.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.access import Actor, is_pool_admin, visible_projects
from accounts.models import Project
from fleet.lane_layout import NOT_OFFERED
from fleet.models import Gpu, Lane, LaneKind, LaneUse, Node
from fleet.states.service_history import Place, Story, stories, together
from fleet.states.standing import PoolState

MAX_BUCKETS = 500
"""Of one answer: more than a chart has pixels to tell apart, at three pixels each."""
MAX_PROJECTS = 6
"""Projects that are shown one by one, those with most lane hours, since a chart tells six colours apart; further ones
are summed up."""
OTHERS = "other projects"
IDLE, TEST = "idle", "test"

Key = str
"""Of an area: a project's id, `OTHERS`, `IDLE`, `TEST`, or a `PoolState` of lanes out of service."""


@dataclass(frozen=True, slots=True)
class Area:
    """One area of the chart."""

    key: Key
    """A project's id; empty for several projects together."""
    name: str
    category: str
    """`project`, `test`, `idle`, or `out_of_service`."""
    lanes: Sequence[float]
    """Mean number of lanes in each bucket."""
    lane_hours: float


@dataclass(frozen=True, slots=True)
class Occupancy:
    kind: LaneKind
    since: datetime
    until: datetime
    """The end of the last bucket: that asked for, but not after now."""
    bucket_seconds: float
    at: Sequence[float]
    """The begin of each bucket, in Unix seconds."""
    areas: Sequence[Area]
    """Projects by lane hours, tests, idle lanes, then those out of service."""


def occupancy(
    user: Actor,
    *,
    since: datetime,
    until: datetime,
    num_buckets: int,
    kind: LaneKind | None = None,
    pool: str = "",
) -> Occupancy:
    """The occupancy of the lanes of a kind, by default of GPU lanes where there are any; with `pool`, of the lanes that
    are in it now, wherever they were. Projects that the user may not see are summed up. Raises `ValueError` for an
    empty window."""
    end = min(until, timezone.now())
    if since >= end:
        raise ValueError(f"`since` must lie before `until` and before now, got {since.isoformat()}")
    lanes = Lane.objects.filter(pool__name=pool) if pool else Lane.objects.all()
    kind = kind or (LaneKind.GPU if lanes.filter(kind=LaneKind.GPU).exists() else LaneKind.CPU)
    sums = _Buckets(since.timestamp(), end.timestamp(), num_buckets)
    for key, begin, stop in _pieces(lanes.filter(kind=kind), kind, pool, since, end):
        sums.add(key, begin, stop)
    return Occupancy(
        kind=kind,
        since=since,
        until=end,
        bucket_seconds=sums.width,
        at=[sums.begin + number * sums.width for number in range(num_buckets)],
        areas=_areas(user, sums.seconds(), sums.width),
    )


class _Buckets:
    """Seconds by key and bucket. A piece costs the same however many buckets it covers."""

    def __init__(self, begin: float, end: float, number: int) -> None:
        self.begin, self.end, self.number = begin, end, number
        self.width = (end - begin) / number
        self._parts: defaultdict[Key, list[float]] = defaultdict(lambda: [0.0] * number)
        """Seconds of buckets that a piece covers in part."""
        self._steps: defaultdict[Key, list[int]] = defaultdict(lambda: [0] * (number + 1))
        """By how much the number of pieces that cover a bucket whole rises from the bucket before."""

    def add(self, key: Key, begin: float, end: float) -> None:
        begin, end = max(begin, self.begin), min(end, self.end)
        if begin >= end:
            return
        first, last = self._bucket(begin), self._bucket(end)
        parts, steps = self._parts[key], self._steps[key]
        if first == last:
            parts[first] += end - begin
            return
        parts[first] += self.begin + (first + 1) * self.width - begin
        parts[last] += end - (self.begin + last * self.width)
        steps[first + 1] += 1
        steps[last] -= 1

    def _bucket(self, at: float) -> int:
        return min(int((at - self.begin) / self.width), self.number - 1)

    def seconds(self) -> dict[Key, list[float]]:
        found = {}
        for key, parts in self._parts.items():
            covering, column = 0, []
            for part, step in zip(parts, self._steps[key], strict=False):
                covering += step
                column.append(max(0.0, part) + covering * self.width)
            found[key] = column
        return found


Piece = tuple[Key, float, float]
"""A key, and from when until when a lane counts for it, in Unix seconds."""


def _pieces(wanted: QuerySet[Lane], kind: LaneKind, pool: str, since: datetime, end: datetime) -> Iterator[Piece]:
    held: defaultdict[int | None, list[Piece]] = defaultdict(list)
    for lane_id, project, test, begin, stop in _uses(wanted, kind, pool, since, end):
        key = TEST if test else str(project or "")
        held[lane_id].append((key, begin.timestamp(), (stop or end).timestamp()))
    yield from held.pop(None, [])
    lanes = list(wanted.filter(created_at__lt=end).exclude(reason=NOT_OFFERED))
    told = _stories_of(lanes, since)
    for lane in lanes:
        uses = held.get(lane.pk, [])
        # A use may be older than the row of its lane, where the lane was made anew.
        first = max(since.timestamp(), min([lane.created_at.timestamp(), *(use[1] for use in uses)]))
        yield from uses
        for free_from, free_until in _gaps(uses, first, end.timestamp()):
            yield from _cut(told.get(lane.pk, []), free_from, free_until)


UseRow = tuple[int | None, UUID | None, UUID | None, datetime, datetime | None]
"""Lane, project, test, since, until."""


def _uses(wanted: QuerySet[Lane], kind: LaneKind, pool: str, since: datetime, end: datetime) -> Iterable[UseRow]:
    of_gone = Q(lane=None, gpus__len__gt=0) if kind is LaneKind.GPU else Q(lane=None, gpus__len=0)
    if pool:
        of_gone &= Q(pool=pool)
    of_lanes = Q(lane__in=wanted.values("pk"))
    uses = LaneUse.objects.filter(of_lanes | of_gone, Q(until=None) | Q(until__gt=since), since__lt=end)
    return uses.order_by("lane", "since").values_list("lane_id", "project_id", "test_id", "since", "until")


def _stories_of(lanes: Sequence[Lane], since: datetime) -> Mapping[int, Story]:
    """By lane; those that took work all the time are left out."""
    gpus = list(Gpu.objects.filter(lane__in=lanes).only("lane", "state", "lost_since"))
    nodes = Node.objects.filter(pk__in={lane.node_id for lane in lanes}).only("name", "state", "lost_since")
    told = stories(since, nodes, gpus, lanes)
    cards: defaultdict[int | None, list[Place]] = defaultdict(list)
    for gpu in gpus:
        cards[gpu.lane_id].append(Place("gpu", gpu.pk))
    found = {}
    for lane in lanes if told else []:
        places = [Place("node", lane.node_id), *cards[lane.pk], Place("lane", lane.pk)]
        if mine := [told[place] for place in places if place in told]:
            found[lane.pk] = together(mine)
    return found


def _gaps(uses: Iterable[Piece], begin: float, end: float) -> Iterator[tuple[float, float]]:
    """Between uses in order of time, inside the window."""
    for _, since, until in uses:
        if since > begin:
            yield begin, min(since, end)
        begin = max(begin, until)
    if begin < end:
        yield begin, end


def _cut(story: Story, begin: float, end: float) -> Iterator[Piece]:
    """The time of a lane that nobody holds, by its state."""
    state: PoolState | None = None
    for moment in story:
        if moment.at > begin:
            if moment.at >= end:
                break
            yield (state.value if state else IDLE), begin, moment.at
            begin = moment.at
        state = moment.state
    yield (state.value if state else IDLE), begin, end


def _areas(user: Actor, seconds: dict[Key, list[float]], width: float) -> list[Area]:
    def area(key: Key, name: str, category: str, column: Sequence[float]) -> Area:
        return Area(key, name, category, [round(one / width, 4) for one in column], sum(column) / 3600)

    plain = {IDLE, TEST, *(state.value for state in PoolState)}
    of_projects = {key: column for key, column in seconds.items() if key not in plain}
    visible = Project.objects.all() if is_pool_admin(user) else visible_projects(user)
    known = visible.filter(pk__in=[key for key in of_projects if key]).values_list("pk", "name")
    names = {str(pk): name for pk, name in known}
    shown = sorted(names, key=lambda key: -sum(of_projects[key]))[:MAX_PROJECTS]
    areas = [area(key, names[key], "project", of_projects[key]) for key in shown]
    if rest := [column for key, column in of_projects.items() if key not in shown]:
        areas.append(area("", OTHERS, "project", [sum(values) for values in zip(*rest, strict=True)]))
    if TEST in seconds:
        areas.append(area(TEST, "tests of GPUs", "test", seconds[TEST]))
    if IDLE in seconds:
        areas.append(area(IDLE, "idle", "idle", seconds[IDLE]))
    for state in PoolState:
        if state.value in seconds:
            areas.append(area(state.value, state.value.replace("_", " "), "out_of_service", seconds[state.value]))
    return areas
