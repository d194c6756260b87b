"""Usage adds up: over neighbouring windows, over rows, and with the price that GPUs had when they were allocated."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Project, User
from fleet.models import Gpu, LaneUse, Node
from fleet.services import allocate
from runs.models import Run
from runs.pool.lane_usage import UsageBy, usage
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def use(run: Run, since: datetime, until: datetime | None, *, gpus: int = 1, price: str | None = None) -> LaneUse:
    return LaneUse.objects.create(
        label="gpu0/gpu-0" if gpus else "gpu0/cpu-0",
        gpus=[f"GPU-{index}" for index in range(gpus)],
        accelerator="H100" if gpus else "",
        run_id=run.pk,
        attempt=1,
        role="rollout",
        name_in_run="rollout-0",
        project=run.project,
        user=run.created_by,
        price_per_hour=None if price is None else Decimal(price),
        since=since,
        until=until,
    )


def test_hours_are_those_inside_the_window(admin: User, make_run: Callable[..., Run], project: Project) -> None:
    run = make_run(project=project)
    use(run, NOON - HOUR, NOON + HOUR, gpus=2, price="5")
    use(run, NOON - 3 * HOUR, NOON - HOUR, gpus=0)
    (row,) = usage(admin, since=NOON - 2 * HOUR, until=NOON, by=UsageBy.PROJECT)
    assert (row.name, row.lane_hours, row.gpu_hours, row.cost, row.num_runs) == (project.name, 2.0, 2.0, Decimal(5), 1)


def test_a_lane_that_is_held_counts_until_now(admin: User, make_run: Callable[..., Run], project: Project) -> None:
    now = datetime.now(UTC)
    use(make_run(project=project), now - HOUR, None)
    (row,) = usage(admin, since=now - 5 * HOUR, until=now + 5 * HOUR, by=UsageBy.ACCELERATOR)
    assert row.name == "H100"
    assert row.gpu_hours == pytest.approx(1.0, abs=0.01)


def test_use_is_summed_by_the_pool_that_the_lane_was_allocated_in(
    admin: User, make_run: Callable[..., Run], project: Project
) -> None:
    run = make_run(project=project)
    LaneUse.objects.filter(pk=use(run, NOON, NOON + 2 * HOUR).pk).update(pool="fast")
    use(run, NOON, NOON + HOUR)
    rows = usage(admin, since=NOON, until=NOON + 5 * HOUR, by=UsageBy.POOL)
    assert [(row.name, row.gpu_hours) for row in rows] == [("fast", 2.0), ("default", 1.0)]


def test_members_see_their_own_projects_only(
    admin: User, charlie: User, alice: User, make_run: Callable[..., Run], project: Project
) -> None:
    use(make_run(project=project), NOON, NOON + HOUR)
    window = {"since": NOON, "until": NOON + HOUR}
    assert usage(charlie, by=UsageBy.RUN, **window) == []
    assert len(usage(alice, by=UsageBy.RUN, **window)) == len(usage(admin, by=UsageBy.RUN, **window)) == 1


def test_what_was_deleted_still_counts(admin: User, make_run: Callable[..., Run], project: Project) -> None:
    run = make_run(project=project)
    use(run, NOON, NOON + HOUR)
    Run.objects.filter(pk=run.pk).delete()
    Project.objects.filter(pk=project.pk).delete()
    for by in (UsageBy.PROJECT, UsageBy.RUN, UsageBy.BASE_MODEL):
        assert [row.name for row in usage(admin, since=NOON, until=NOON + HOUR, by=by)] == ["deleted"]


def test_a_use_over_midnight_counts_for_both_days(admin: User, make_run: Callable[..., Run], project: Project) -> None:
    use(make_run(project=project), NOON, NOON + 24 * HOUR)
    rows = usage(admin, since=NOON, until=NOON + 48 * HOUR, by=UsageBy.DAY)
    assert [(row.name, row.gpu_hours) for row in rows] == [("2026-03-01", 12.0), ("2026-03-02", 12.0)]


def test_an_allocation_keeps_the_price_that_it_was_made_at(make_run: Callable[..., Run], project: Project) -> None:
    post_node(alive("gpu0"), card("GPU-a", 0), card("GPU-b", 1))

    Node.objects.update(price_per_gpu_hour=Decimal("2.5"))
    Gpu.objects.filter(uuid="GPU-b").update(price_per_gpu_hour=Decimal(4))
    run = make_run(project=project)
    assert allocate(holder=held_by(run.pk, 1), wanted=run.run_spec.granted_lanes) is not None
    Node.objects.update(price_per_gpu_hour=Decimal(99))
    prices = LaneUse.objects.values_list("gpus", "price_per_hour")
    assert {tuple(gpus): price for gpus, price in prices} == {
        ("GPU-a",): Decimal("2.5"),
        ("GPU-b",): Decimal(4),
        (): None,
    }


def test_an_empty_window_is_refused(admin: User) -> None:
    with pytest.raises(ValueError, match="must lie before"):
        usage(admin, since=NOON, until=NOON, by=UsageBy.USER)


times = st.integers(0, 96).map(lambda quarter: NOON + timedelta(minutes=15 * quarter))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    held=st.lists(st.tuples(times, st.integers(1, 40), st.integers(0, 4)), max_size=8),
    cut=times,
    by=st.sampled_from(list(UsageBy)),
)
def test_windows_side_by_side_add_up(
    admin: User,
    make_run: Callable[..., Run],
    project: Project,
    held: list[tuple[datetime, int, int]],
    cut: datetime,
    by: UsageBy,
) -> None:
    LaneUse.objects.all().delete()
    run = make_run(project=project)
    for since, quarters, gpus in held:
        use(run, since, since + timedelta(minutes=15 * quarters), gpus=gpus, price="1" if gpus else None)
    begin, end = NOON - HOUR, NOON + timedelta(days=3)

    def total(since: datetime, until: datetime) -> tuple[float, Decimal]:
        rows = usage(admin, since=since, until=until, by=by)
        return sum(row.gpu_hours for row in rows), sum((row.cost or Decimal(0) for row in rows), Decimal(0))

    whole, left, right = total(begin, end), total(begin, cut), total(cut, end)
    assert left[0] + right[0] == pytest.approx(whole[0])
    assert float(left[1] + right[1]) == pytest.approx(float(whole[1]))
    assert whole[0] == pytest.approx(sum(quarters * gpus / 4 for _, quarters, gpus in held))
