"""One operation of each kind, asked for over REST."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from fleet.lane_layout import ensure_local_lanes
from fleet.models import Gpu, Node
from fleet.services import LaneHolder, allocate
from runs.models import Run
from tests.web.api.conftest import api, client_of, pool_admin  # noqa: F401
from tests.web.gallery.conftest import (  # noqa: F401
    adapter_event,
    artifact_folder,
    preview_cluster,
    put,
    report,
    run,
    trained,
)
from tests.web.sweeps.swept_runs import plan

Begin = Callable[[], dict[str, str]]


@pytest.fixture
def begin(api: APIClient, pool_admin: APIClient, trained: Run, alice: User) -> Begin:  # noqa: F811
    """`begin()`: the ids of one operation of each kind, on a run of alice's that holds every CPU lane."""

    def all_kinds() -> dict[str, str]:
        ensure_local_lanes(num_cpu_lanes=4, gpu_indices=range(2), accelerator="H100")
        holder = LaneHolder(run_id=trained.pk, attempt=1, project_id=trained.project_id, user_id=alice.pk)
        assert allocate(holder=holder, wanted=trained.run_spec.granted_lanes)
        runs, gpu, node = f"/api/v1/runs/{trained.pk}", Gpu.objects.get(index=0), Node.objects.get()
        asked = {
            "preview": api.post(f"{runs}/previews", {"prompts": ["a red circle"], "num_samples": 2}),
            "command": api.post(f"{runs}/actions", {"action": "checkpoint_now"}),
            "resize": api.post(f"{runs}/resize", {"add": [{"role": "reward"}]}),
            "sweep": api.post("/api/v1/sweeps", {"project": str(trained.project_id), "sweep": plan()}),
            "gpu_test": pool_admin.post(f"/api/v1/gpus/{gpu.pk}/tests", {"reason": "slow"}),
            "drain": pool_admin.post(f"/api/v1/nodes/{node.pk}/actions", {"action": "drain", "reason": "new fans"}),
        }
        begun: dict[str, str] = {}
        for kind, answer in asked.items():
            assert answer.status_code in (200, 201, 202), (kind, answer.content)
            begun[kind] = answer.json()["operation"]
        return begun

    return all_kinds
