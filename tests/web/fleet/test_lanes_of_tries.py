import uuid

import pytest

from fleet.models import Lane
from fleet.selectors import free_lanes, grant_of_try, holders, tries_with_lanes
from fleet.services import allocate_for_try, ensure_local_lanes, release, release_try


@pytest.mark.django_db
def test_a_try_holds_one_lane_of_the_run_and_is_no_attempt() -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    try_id, run_id = uuid.uuid4(), uuid.uuid4()
    granted = allocate_for_try(try_id=try_id, run_id=run_id)
    assert granted is not None
    assert (granted, tries_with_lanes()) == (grant_of_try(try_id), [try_id])
    assert Lane.objects.get().run_id == run_id
    assert holders() == [], "the reconciler of attempts leaves it alone"
    assert allocate_for_try(try_id=uuid.uuid4(), run_id=run_id) is None
    assert release(run_id=run_id, attempt=1) == 0
    assert (release_try(try_id), free_lanes()) == (1, {"cpu": 1})


@pytest.mark.django_db
def test_a_try_takes_no_cpu_lane_where_there_are_gpus() -> None:
    ensure_local_lanes(num_cpu_lanes=2, num_gpus=1)
    assert allocate_for_try(try_id=uuid.uuid4(), run_id=uuid.uuid4()) is not None
    assert free_lanes() == {"cpu": 2}
    assert allocate_for_try(try_id=uuid.uuid4(), run_id=uuid.uuid4()) is None
