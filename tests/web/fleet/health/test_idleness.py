"""A GPU that a run holds and does not use is noticed, with the time that it did nothing."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.health.idleness import IDLE_UTILISATION, follow_use, idle_gpus
from fleet.models import Gpu, Lane
from fleet.services import allocate, release
from tests.web.fleet.node_posts import alive, card, post_node
from tests.web.lane_holders import held_by
from worker.contracts.lanes import LaneSpec

START = datetime(2026, 11, 10, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@given(
    readings=st.lists(st.sampled_from([0.0, IDLE_UTILISATION, 0.06, 0.9, 1.0, None]), min_size=1, max_size=40),
    step=st.integers(1, 300),
)
def test_idle_since_and_the_longest_gap_are_those_of_the_readings(readings: list[float | None], step: int) -> None:
    gpu, gaps, began = Gpu(), [0.0], None
    for number, utilisation in enumerate(readings):
        now = START + number * timedelta(seconds=step)
        follow_use(gpu, utilisation, START, now)
        if utilisation is not None and utilisation <= IDLE_UTILISATION:
            began = began or now
        elif utilisation is not None and began is not None:
            gaps.append((now - began).total_seconds())
            began = None
    assert gpu.idle_since == began
    assert gpu.longest_idle_seconds == max(gaps)


def test_time_in_which_nobody_or_somebody_else_held_it_does_not_count() -> None:
    gpu = Gpu()
    follow_use(gpu, 0.0, None, START)
    assert (gpu.held_for, gpu.idle_since) == (None, None)
    follow_use(gpu, 0.0, START, START + MINUTE)
    follow_use(gpu, 1.0, START, START + 9 * MINUTE)
    assert gpu.longest_idle_seconds == 480
    follow_use(gpu, 0.0, START + 10 * MINUTE, START + 11 * MINUTE)
    assert (gpu.idle_since, gpu.longest_idle_seconds) == (START + 11 * MINUTE, 0.0)
    follow_use(gpu, 0.0, None, START + 12 * MINUTE)
    assert (gpu.held_for, gpu.idle_since, gpu.longest_idle_seconds) == (None, None, 0.0)


@pytest.mark.django_db
def test_reports_tell_which_gpus_of_a_run_do_nothing() -> None:
    def report(*utilisations: float | None) -> None:
        cards = (card(f"GPU-{number}", number, live={"utilisation": use}) for number, use in enumerate(utilisations))
        post_node(alive("gpu0"), *cards)

    report(0.0, 0.0, 0.0, None)
    run_id = uuid.uuid4()
    assert allocate(holder=held_by(run_id, 1), wanted=LaneSpec(num_rollout=2, num_trainer=1)) is not None
    report(0.0, 0.9, None, 0.0)
    idle = {gpu.uuid for gpu in Gpu.objects.exclude(idle_since=None)}
    assert idle == {"GPU-0"}, "not those that work, that tell nothing, or that nobody holds"
    now = Gpu.objects.get(uuid="GPU-0").idle_since
    assert now is not None
    assert idle_gpus(now + 29 * MINUTE) == []
    (found,) = idle_gpus(now + 30 * MINUTE)
    lane = Lane.objects.get(gpus__uuid="GPU-0")
    assert (found.run_id, found.attempt, found.lane, found.release_at) == (run_id, 1, lane.name_in_run, None)
    assert idle_gpus(now + 30 * MINUTE, {uuid.uuid4()}) == []
    release(run_id=run_id, attempt=1)
    assert idle_gpus(now + 30 * MINUTE) == []
    report(0.0, 0.0, 0.0, 0.0)
    assert not Gpu.objects.exclude(idle_since=None).exists()
