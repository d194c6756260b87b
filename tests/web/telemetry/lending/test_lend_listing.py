"""The ledger of lending: what loans brought by the spans and batches that were reported, in rows of one shape."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Project, User
from fleet.allocation.lane_loans import LoanForecast, begin_loans, give_notice
from fleet.lane_layout import ensure_local_lanes
from fleet.models import LaneLoan, LaneUse
from fleet.services import LaneHolder, WantedLanes, allocate_more, release_lanes
from telemetry.lending.lend_listing import LendsWanted, cursor_of, lends, parse_cursor
from telemetry.lending.lend_rows import Lend, LendKind
from telemetry.lending.lend_sums import LendsBy, sums
from worker.contracts.lanes import DEFAULT_POOL
from worker.contracts.names import LaneRole

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db
START = 1_700_000_000.0
"""The time of the driver's event 0."""
SIZES = {"num_bytes": 8, "num_tensors": 1, "sha256": "0" * 64, "seconds": 0.1}
FORECAST = LoanForecast(reason="idle", seconds_before=10.0, seconds=6.0, stay_seconds=600.0, gain_seconds=300.0)


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(START + seconds, UTC)


@pytest.fixture
def loan(driver: Any, project: Project) -> LaneLoan:
    """The driver's run has a borrowed lane `rollout-1`: lent at 100 s, at work from 110 s, back at 200 s."""
    ensure_local_lanes(num_cpu_lanes=6)
    holder = LaneHolder(run_id=driver.run_id, attempt=1, project_id=project.pk, user_id=None)
    wanted = [WantedLanes(role=LaneRole.ROLLOUT, number=2)]
    assert allocate_more(holder=holder, pool=DEFAULT_POOL, wanted=wanted)
    LaneUse.objects.update(since=at(100))
    lent = {"run_id": driver.run_id, "attempt": 1, "names": ["rollout-1"]}
    begin_loans(**lent, from_projects=[None], resize=driver.run_id, forecast=FORECAST)
    LaneLoan.objects.update(joined_at=at(110))
    give_notice(**lent, resize=driver.run_id, reason="run other is next", bound_seconds=30.0)
    release_lanes(**lent)
    LaneLoan.objects.update(notice_at=at(190), until=at(200), num_dropped=1)
    return LaneLoan.objects.get()


def report(driver: Any, event: Make, spans: Make) -> None:
    """Batches of 10 s until 100 s, then of 6 s; the lane generates 8 samples, and leaves amid a fragment."""
    published = [*range(10, 101, 10), *range(106, 210, 6)]
    events = [
        {**event(seq, "publish", policy_version=seq, **SIZES), "at": START + seconds}
        for seq, seconds in enumerate(published, start=1)
    ]
    rows = [
        ("rollout-1", "generate", START + 110, START + 120, None, 10, 0, 10, 8),
        ("rollout-1", "evaluate", START + 120, START + 130, None, None, 0, 10, 4),
        ("rollout-1", "idle", START + 190, START + 194, "resize"),
        ("rollout-0", "generate", START + 110, START + 120, None, 10, 0, 10, 99),
    ]
    driver.send(*events, spans(len(events) + 1, *rows))


def read(user: User, **wanted: Any) -> list[Lend]:
    return lends(user, LendsWanted(**wanted), limit=100)


def test_what_a_loan_brought_is_measured(driver: Any, event: Make, spans: Make, loan: LaneLoan, alice: User) -> None:
    report(driver, event, spans)
    (row,) = read(alice)
    assert (row["kind"], row["run_name"], row["lane_in_run"]) == ("between_runs", driver.run.name, "rollout-1")
    assert row["lane"].startswith("local/cpu-")
    assert (row["return_seconds"], row["num_dropped"], row["bound_seconds"]) == (10.0, 1, 30.0)
    assert row["num_samples"] == 8, "for training, by this lane"
    assert row["switch_seconds"] == pytest.approx(14.0), "10 s until it worked, 4 s amid a fragment"
    assert row["measured_batch_seconds_before"] == pytest.approx(10.0)
    assert row["measured_batch_seconds"] == pytest.approx(6.0)
    whole = 13
    assert row["realised_gain_seconds"] == pytest.approx(whole * 4.0 - 14.0), "whole batches between 110 s and 190 s"
    assert (row["predicted_gain_seconds"], row["predicted_batch_seconds"]) == (300.0, 6.0)


def test_what_nothing_was_reported_of_is_not_known(loan: LaneLoan, alice: User) -> None:
    (row,) = read(alice)
    assert row["realised_gain_seconds"] is None
    assert (row["measured_batch_seconds"], row["measured_batch_seconds_before"]) == (None, None)
    assert row["num_samples"] == 0


def test_lanes_at_work_together_share_what_was_gained(
    driver: Any, event: Make, spans: Make, loan: LaneLoan, alice: User
) -> None:
    report(driver, event, spans)
    other = LaneLoan.objects.get()
    LaneLoan.objects.create(
        **{
            field: getattr(other, field)
            for field in ("label", "run_id", "attempt", "role", "project", "since", "until", "joined_at", "notice_at")
        },
        name_in_run="rollout-7",
        resize=other.resize,
        reason="idle",
    )
    gains = [row["realised_gain_seconds"] for row in read(alice)]
    assert sorted(gain or 0.0 for gain in gains) == [pytest.approx(26 - 14), pytest.approx(26 - 10)]


def test_a_lane_taken_beyond_a_guarantee_has_no_gain(loan: LaneLoan, alice: User) -> None:
    LaneLoan.objects.update(resize=None)
    (row,) = read(alice)
    assert (row["realised_gain_seconds"], row["num_samples"], row["switch_seconds"]) == (None, None, None)


def test_lanes_lent_by_one_decision_are_read_page_by_page(
    driver: Any, event: Make, loan: LaneLoan, alice: User
) -> None:
    lanes = [f"trainer-{number}" for number in range(5)]
    body = {"batch": 3, "lanes": lanes, "num_fragments": 2}
    gains = {"predicted_gain_seconds": 2.0, "least_gain_seconds": 0.5, "realised_gain_seconds": None}
    driver.send(event(1, "lend", decision=1, **body, **gains), event(2, "lend", decision=2, **body, **gains))
    found: list[Lend] = []
    while page := lends(alice, LendsWanted(before=parse_cursor(cursor_of(found[-1])) if found else None), limit=3):
        found += page
    assert [row["id"] for row in found] == [row["id"] for row in read(alice)]
    assert len({row["id"] for row in found}) == 11


def test_lends_within_a_run_are_rows_of_the_same_shape(
    driver: Any, event: Make, spans: Make, loan: LaneLoan, alice: User
) -> None:
    decided = event(
        1,
        "lend",
        decision=1,
        batch=3,
        lanes=["trainer-0"],
        num_fragments=2,
        predicted_gain_seconds=2.0,
        least_gain_seconds=0.5,
        realised_gain_seconds=None,
    )
    begin = decided["at"]
    work = spans(
        2,
        ("trainer-0", "switch", begin, begin + 0.5),
        ("trainer-0", "lent_generate", begin + 0.5, begin + 3, None, 3, 0, 3, 8),
        ("trainer-0", "switch", begin + 3, begin + 3.5),
    )
    driver.send(decided, work, {**decided, "seq": 3, "at": begin + 9, "realised_gain_seconds": 1.5})
    between, within = sorted(read(alice), key=lambda row: row["kind"])
    assert set(between) == set(within)
    assert (within["lender_kind"], within["lender"], within["run_name"]) == ("run", driver.run.name, driver.run.name)
    assert (within["num_samples"], within["switch_seconds"]) == (8, 1.0)
    assert (within["predicted_gain_seconds"], within["realised_gain_seconds"]) == (2.0, 1.5)
    assert within["least_gain_seconds"] == 0.5
    assert within["end"] == datetime.fromtimestamp(begin + 3.5, UTC).isoformat()
    assert [row["kind"] for row in read(alice, kind=LendKind.WITHIN_RUN)] == ["within_run"]
    assert [row["kind"] for row in read(alice, kind=LendKind.BETWEEN_RUNS)] == ["between_runs"]


def test_lends_are_filtered_by_time_run_project_and_lane(
    loan: LaneLoan, alice: User, project: Project, make_project: Callable[..., Project]
) -> None:
    assert len(read(alice, since=at(150), until=at(160))) == 1
    assert read(alice, since=at(201)) == []
    assert read(alice, until=at(99)) == []
    assert len(read(alice, run=loan.run_id)) == 1
    assert read(alice, run=project.pk) == []
    assert len(read(alice, project=project.pk)) == 1
    assert read(alice, project=make_project("Other").pk) == []
    assert len(read(alice, lane=loan.label)) == 1
    assert read(alice, lane="local/cpu-99") == []


def test_pages_follow_each_other_without_gap_or_overlap(loan: LaneLoan, alice: User) -> None:
    for number in range(5):
        LaneLoan.objects.create(
            label="a",
            run_id=loan.run_id,
            attempt=1,
            name_in_run=f"l{number}",
            role="rollout",
            project=loan.project,
            since=at(100 + number // 2),
            reason="idle",
        )
    every = [row["id"] for row in read(alice)]
    found: list[str] = []
    before = None
    while page := lends(alice, LendsWanted(before=before), limit=2):
        found += [row["id"] for row in page]
        before = parse_cursor(cursor_of(page[-1]))
    assert found == every
    assert len(set(found)) == 6


def test_members_see_lends_of_their_projects_and_no_names_of_others(
    loan: LaneLoan, make_user: Callable[..., User], make_project: Callable[..., Project]
) -> None:
    owner = make_user("owner")
    other = make_project("Owner", owner=owner)
    assert read(owner) == []
    LaneLoan.objects.update(lender=other, lender_name="Owner")
    (row,) = read(owner)
    assert (row["run"], row["run_name"], row["project"]) == (None, "a run of another project", None)
    assert (row["lender"], row["lender_project"]) == ("Owner", str(other.pk))
    admin = make_user("pool-admin", is_pool_admin=True)
    assert read(admin)[0]["run"] == str(loan.run_id)


def test_the_run_that_lanes_are_asked_back_for_is_named_to_those_alone_who_may_see_it(
    loan: LaneLoan, alice: User, make_run: Callable[..., Any]
) -> None:
    LaneLoan.objects.update(for_run_id=make_run(name="secret recipe").pk)
    (row,) = read(alice)
    assert (row["for_run"], row["for_run_name"]) == (None, "a run of another project")
    assert "other" not in row["end_reason"].split()


def test_sums_by_lender_borrower_run_and_lane_add_up(
    driver: Any, event: Make, spans: Make, loan: LaneLoan, alice: User, project: Project
) -> None:
    report(driver, event, spans)
    for by in (LendsBy.BORROWER, LendsBy.LENDER, LendsBy.RUN, LendsBy.LANE):
        (total,) = sums(alice, LendsWanted(), by=by)
        assert (total["num_lends"], total["lent_seconds"], total["num_samples"]) == (1, 100.0, 8)
        assert (total["num_returned"], total["max_return_seconds"], total["num_dropped"]) == (1, 10.0, 1)
        assert (total["num_graded"], total["predicted_gain_seconds"]) == (1, 300.0)
    (by_project,) = sums(alice, LendsWanted(), by=LendsBy.BORROWER)
    assert (by_project["key"], by_project["name"]) == (str(project.pk), "Shapes")
    assert sums(alice, LendsWanted(), by=LendsBy.GPU) == [], "CPU lanes have no GPU"
    LaneLoan.objects.update(gpus=["a/gpu-0", "a/gpu-1"])
    assert [total["key"] for total in sums(alice, LendsWanted(), by=LendsBy.GPU)] == ["a/gpu-0", "a/gpu-1"]
    assert sums(alice, LendsWanted(since=at(0) + timedelta(days=1)), by=LendsBy.RUN) == []
