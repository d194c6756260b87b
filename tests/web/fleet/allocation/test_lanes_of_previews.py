import uuid

import pytest

from fleet.lane_layout import ensure_local_lanes
from fleet.models import Lane
from fleet.selectors import free_lanes, grant_of_preview, holders, previews_with_lanes
from fleet.services import allocate_for_preview, release, release_preview
from tests.web.lane_holders import held_for_preview
from worker.contracts.lanes import DEFAULT_POOL


@pytest.mark.django_db
def test_a_preview_holds_one_lane_of_the_run_and_is_no_attempt() -> None:
    ensure_local_lanes(num_cpu_lanes=1)
    preview_id, run_id = uuid.uuid4(), uuid.uuid4()
    granted = allocate_for_preview(held_for_preview(preview_id, run_id), DEFAULT_POOL)
    assert granted is not None
    assert (granted, previews_with_lanes()) == (grant_of_preview(preview_id), [preview_id])
    assert Lane.objects.get().run_id == run_id
    assert holders() == [], "the reconciler of attempts leaves it alone"
    assert allocate_for_preview(held_for_preview(uuid.uuid4(), run_id), DEFAULT_POOL) is None
    assert release(run_id=run_id, attempt=1) == 0
    assert (release_preview(preview_id), free_lanes()) == (1, {"cpu": 1})


@pytest.mark.django_db
def test_a_preview_takes_no_cpu_lane_where_there_are_gpus() -> None:
    ensure_local_lanes(num_cpu_lanes=2, gpu_indices=range(1))
    assert allocate_for_preview(held_for_preview(uuid.uuid4(), uuid.uuid4()), DEFAULT_POOL) is not None
    assert free_lanes() == {"cpu": 2}
    assert allocate_for_preview(held_for_preview(uuid.uuid4(), uuid.uuid4()), DEFAULT_POOL) is None
