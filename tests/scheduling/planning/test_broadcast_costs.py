"""What the planner expects of versions that are broadcast, and of the memory that they take."""

from dataclasses import replace

import pytest

from worker.contracts.run_spec import RunSpec
from worker.engine.sync.shards import SHARD_BYTES
from worker.scheduling.core.costs import GANG, CostKind
from worker.scheduling.planning.cost_estimates import pool_costs
from worker.scheduling.planning.memory import BROADCAST_SHARD_BYTES, MemoryRole, lane_memory
from worker.scheduling.planning.memory_advice import memory_warnings
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import H100, L40S


def all_weights(publishing: str = "direct", tuning: str = "full") -> RunSpec:
    """12 billion bf16 weights."""
    return RunSpec.model_validate(
        {
            "base_model": {"path": "black-forest-labs/FLUX.1-dev", "dtype": "bf16"},
            "prompts": {"inline": ["a"]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {"num_prompts_per_batch": 1, "group_size": 8, "micro_batch_size": 1, "fragment_size": 1},
            "sampling": {"height": 512, "width": 512},
            "tuning": tuning,
            "deepspeed": {"config": "zero3" if tuning == "full" else "zero0"},
            "pipeline": {"publishing": publishing, "tag": "greedy"},
            "lanes": {"num_rollout": 4, "num_trainer": 4},
        }
    )


def test_twelve_billion_weights_are_bound_in_half_a_second_where_they_are_broadcast() -> None:
    work = Workload.of(all_weights())
    assert work.trained_bytes == pytest.approx(24e9, rel=0.02)
    costs = pool_costs(work, [H100] * 8, num_reward=1)
    table = costs.cost_table(range(4, 8))
    publish, pull = table[GANG, CostKind.PUBLISH], table["lane-0", CostKind.PULL]
    assert 0.2 < publish.per_call + pull.per_call < 0.6
    assert publish.per_call == pytest.approx(work.trained_bytes / H100.network_bandwidth)
    stored = pool_costs(Workload.of(all_weights("store")), [H100] * 8, num_reward=1).cost_table(range(4, 8))
    assert stored["lane-0", CostKind.PULL].per_call > 10 * pull.per_call


def test_a_lent_trainer_lane_pulls_from_the_store() -> None:
    direct = pool_costs(Workload.of(all_weights()), [H100] * 8, num_reward=1).cost_table(range(4, 8))
    stored = pool_costs(Workload.of(all_weights("store")), [H100] * 8, num_reward=1).cost_table(range(4, 8))
    assert direct["lane-4", CostKind.PULL] == stored["lane-4", CostKind.PULL] != direct["lane-0", CostKind.PULL]


def test_a_rollout_lane_holds_what_it_receives_beside_what_it_generates_with() -> None:
    stored, direct = (Workload.of(all_weights(way)) for way in ("store", "direct"))
    before, after = (lane_memory(work, H100, MemoryRole.ROLLOUT) for work in (stored, direct))
    assert after.total - before.total == after.copies == direct.trained_bytes
    # A trainer lane keeps its part of the snapshot until that is in the store, and a shard of it to send from.
    role = MemoryRole.BOTH
    assert BROADCAST_SHARD_BYTES == SHARD_BYTES
    more = lane_memory(direct, H100, role, num_ranks=4).total - lane_memory(stored, H100, role, num_ranks=4).total
    assert 0 < more <= direct.published_bytes / 4 + SHARD_BYTES


def test_a_rollout_lane_without_room_is_advised_to_use_the_store() -> None:
    card = replace(L40S, memory_bytes=lane_memory(Workload.of(all_weights()), L40S, MemoryRole.ROLLOUT).total - 1)
    warnings = memory_warnings(all_weights(), [card])
    assert warnings[0].startswith("A rollout lane") and "copies 23.8" in warnings[0]
    assert warnings[0].endswith("It would fit with `pipeline.publishing: store`.")
