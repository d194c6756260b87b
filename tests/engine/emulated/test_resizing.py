"""Random resizes of a run on emulated lanes over real Ray: whatever comes, goes and changes, the run goes on.

Emulated lanes check what they are given: a group that is incomplete, of another version or trained twice ends the run.
"""

from pathlib import Path
from random import Random

import pytest

from tests.engine.emulated.cases import Case
from tests.engine.emulated.run_case import LANE_CPUS, start_emulated
from tests.engine.ray.resizing import granted, outcome, reports, resize, roles
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole, Placement
from worker.contracts.resizing import Resize, resize_problems
from worker.engine.emulated.timing import Emulation
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

NUM_RESIZES = 8
MAX_LANES = 9


def random_resize(random: Random, present: dict[str, LaneRole], number: int) -> Resize | None:
    """A resize of up to three lanes, `None` where the run could not be so."""
    named = random.sample(sorted(present), random.randint(0, 2))
    release = [lane for lane in named if random.random() < 0.5]
    change = [{"lane": lane, "role": random.choice(list(LaneRole))} for lane in named if lane not in release]
    add = []
    if len(present) < MAX_LANES and random.random() < 0.7:
        role = random.choice(list(LaneRole))
        add = [LaneGrant.model_validate(granted(f"{role}-{100 + number}", role) | {"num_cpus": LANE_CPUS})]
    asked = Resize.model_validate({"add": add, "release": release, "change": change})
    return None if any(resize_problems(asked, present, Placement.DISAGGREGATED)) else asked


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("mode", ["gap + staleness 1", "gap + tag greedy"])
def test_a_run_goes_on_whatever_lanes_come_go_and_change(
    mode: str, seed: int, ray_address: str, ingest: Ingest, tmp_path: Path
) -> None:
    case, random = Case(8, mode, is_mixed=False, num_batches=100_000), Random(seed)
    costs = {lane_kind: cost.scaled(0.2) for lane_kind, cost in case.costs.items()}
    costs |= {(GANG, kind): Cost(0.2) for kind in (CostKind.CHECKPOINT, CostKind.START, CostKind.RESTORE)}
    emulation = Emulation(costs=dump_costs(costs), relative_spread=0.5, seed=seed)
    driven = start_emulated(case.spec, emulation, ray_address, ingest, tmp_path)
    try:
        driven.until_batch(1)
        expected = roles(driven)
        for number in range(NUM_RESIZES):
            asked = None
            while asked is None:
                asked = random_resize(random, expected, number)
            expected = asked.roles_after(expected)
            identity = f"r{number}"
            driven.command(identity, "resize", resize=asked.model_dump(mode="json"))
            assert outcome(driven, identity)["state"] == "done", reports(driven, identity)
            assert roles(driven) == expected
            driven.until_another_batch()
        resize(driven, "last", release=[lane for lane, role in expected.items() if role is LaneRole.TRAINER])
        assert outcome(driven, "last")["reason"].startswith("the run must keep at least 1 trainer lane")
        driven.command("c1", "stop")
        assert driven.finish() == 0
    finally:
        driven.kill()
    assert driven.states() == ["running", "stopping", "stopped"]
    assert not driven.ingest.of_type("resumed")
    versions = {event["policy_version"] for event in driven.ingest.of_type("publish")}
    assert versions == set(range(max(driven.reported_batches()) + 1))
