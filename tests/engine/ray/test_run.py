from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.ray.conftest import Driven

pytestmark = pytest.mark.ray

Drive = Callable[..., Driven]
MakeSpec = Callable[..., Any]


def test_a_short_run_completes_and_tells_everything(drive: Drive, make_spec: MakeSpec) -> None:
    spec = make_spec(
        num_batches=3,
        batch={"fragment_size": 2, "num_epochs_per_batch": 2},
        evaluation={"every_num_batches": 2, "num_samples_per_prompt": 2},
        checkpoint={"every_num_batches": 1, "num_kept": 2},
        lanes={"num_rollout": 2},
    )
    driven = drive(spec)
    driven.until(lambda: 1 in driven.batches_told())
    driven.ingest.is_away = True
    driven.until(lambda: driven.process.poll() is None and driven.ingest.num_posts > 0)
    driven.ingest.is_away = False
    assert driven.finish() == 0
    events = driven.ingest.events
    for event in events:
        print(str(event)[:300])
