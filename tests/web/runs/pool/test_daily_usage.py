"""Usage day by day adds up to the usage of the window."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from accounts.models import Project, User
from runs.models import Run
from runs.pool.daily_usage import MAX_ROWS, OTHERS, daily_usage
from runs.pool.lane_usage import UsageBy, usage
from tests.web.runs.pool.test_lane_usage import HOUR, NOON, use

pytestmark = pytest.mark.django_db
WINDOW = {"since": NOON - HOUR, "until": NOON + timedelta(days=3)}


def test_a_use_over_midnight_counts_for_both_days(admin: User, make_run: Callable[..., Run], project: Project) -> None:
    use(make_run(project=project), NOON, NOON + 24 * HOUR, gpus=2, price="3")
    found = daily_usage(admin, by=UsageBy.PROJECT, **WINDOW)
    assert list(found.days) == ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]
    (row,) = found.rows
    assert (row.name, row.gpu_hours, row.lane_hours) == (project.name, [24, 24, 0, 0], [12, 12, 0, 0])
    assert row.cost == [36, 36, 0, 0]


@pytest.mark.parametrize("by", list(UsageBy))
def test_days_and_rows_add_up_to_the_usage_of_the_window(
    admin: User, make_run: Callable[..., Run], make_project: Callable[..., Project], by: UsageBy
) -> None:
    for number in range(MAX_ROWS + 3):
        project = make_project(f"project {number}")
        use(make_run(project=project), NOON + number * HOUR, NOON + (3 + 2 * number) * HOUR, gpus=number % 3)
    found = daily_usage(admin, by=by, **WINDOW)
    whole = usage(admin, by=by, **WINDOW)
    assert sum(row.size[0] for row in found.rows) == pytest.approx(sum(row.gpu_hours for row in whole))
    assert sum(row.size[1] for row in found.rows) == pytest.approx(sum(row.lane_hours for row in whole))
    assert len(found.rows) <= MAX_ROWS + 1
    if by is UsageBy.PROJECT:
        assert [row.name for row in found.rows][-1] == OTHERS
        assert [row.name for row in found.rows][:2] == ["project 8", "project 5"], "most GPU hours first"


def test_members_see_their_own_projects_only(
    alice: User, charlie: User, make_run: Callable[..., Run], project: Project
) -> None:
    use(make_run(project=project), NOON, NOON + HOUR)
    assert len(daily_usage(alice, by=UsageBy.USER, **WINDOW).rows) == 1
    assert daily_usage(charlie, by=UsageBy.USER, **WINDOW).rows == []


def test_windows_that_are_empty_or_too_long_are_refused(admin: User) -> None:
    with pytest.raises(ValueError, match="must lie before"):
        daily_usage(admin, since=NOON, until=NOON, by=UsageBy.DAY)
    with pytest.raises(ValueError, match="at most 400 days, got 500"):
        daily_usage(admin, since=NOON, until=NOON + timedelta(days=500), by=UsageBy.DAY)
