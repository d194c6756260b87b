from types import SimpleNamespace
from typing import Any

import pytest

from worker.contracts.ingest import BootstrapAnswer, LaneGrant
from worker.contracts.names import Role
from worker.contracts.run_spec import RunSpec
from worker.engine.build import build_parts


def test_a_placement_that_nobody_resolved_is_refused_before_any_lane_is_touched(client: Any) -> None:
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a", "b"]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {"num_prompts_per_batch": 2},
            "pipeline": {"placement": "auto"},
        }
    )
    answer = BootstrapAnswer(
        run="run",
        attempt=1,
        token="token",
        spec=spec,
        prompts=spec.prompts.inline,
        base_model_path="nowhere",
        lanes=(LaneGrant(lane="trainer-0", role=Role.TRAINER, node="local", device="cpu"),),
        checkpoints="memory://checkpoints",
    )
    telemetry: Any = SimpleNamespace(client=client, uploader=None)
    with pytest.raises(ValueError, match="must be resolved before lanes are granted, got `auto`"):
        build_parts(answer, telemetry)
