"""A rank process of `test_proximal_on_ranks`: trains a stale batch and returns what it knows of the proximal policy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.engine.sharing_embeddings import trainer_rank
from tests.engine.trainer.uneven_worker import share_of
from worker.contracts.algebra import BatchAlgebra
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import MinibatchError
from worker.engine.types import GroupBatch
from worker.scheduling.core.messages import MicroBatchKey

Shares = tuple[tuple[int, ...], ...]
"""For each optimizer step of a batch, which micro-batches of its mini-batch rank 0 takes; rank 1 takes the others."""
Case = tuple[str, int, Shares]
"""(algorithm, ZeRO stage, shares)."""

# A mini-batch has 6 micro-batches, 3 of each of its two groups.
NONE_OF_THE_FIRST: Shares = ((), (0, 1, 2, 3, 4, 5), (0, 3), (1,))
"""Rank 0 has no part in the batch's first step. In the second epoch it takes some of what rank 1 took, and of what it
took itself."""
ALL_THEN_NONE: Shares = ((0, 1, 2, 3, 4, 5), (0, 1), (), (2, 3, 4, 5))
"""In the second epoch, the other rank takes each pair."""
UNEVEN: Shares = ((0,), (0, 1, 2, 3), (1, 2, 3, 4, 5), ())
"""Tried in lockstep too, where the rank with fewer is padded: in the last step rank 0 has nothing but padding."""
CASES: tuple[Case, ...] = (
    ("flow_grpo", 0, NONE_OF_THE_FIRST),
    ("flow_grpo", 1, ALL_THEN_NONE),
    ("flow_grpo", 3, UNEVEN),
    ("grpo_guard", 2, UNEVEN),
    ("flow_dppo", 0, NONE_OF_THE_FIRST),
    ("flow_dppo", 3, UNEVEN),
)
"""Each is tried on two ranks."""


def keys_of(algebra: BatchAlgebra, minibatch: int) -> list[MicroBatchKey]:
    """The micro-batches of a mini-batch, in order."""
    size = algebra.num_groups_per_minibatch
    per_group = algebra.num_micro_batches_per_optimizer_step // size
    groups = range(minibatch * size, (minibatch + 1) * size)
    return [MicroBatchKey(group, index) for group in groups for index in range(per_group)]


def passes_of_rank(
    spec: RunSpec, groups: list[GroupBatch], keys: Sequence[MicroBatchKey], own: tuple[int, ...], num_in_step: int
) -> list[tuple[list[GroupBatch], list[MicroBatchKey], int]]:
    """The arguments of each `accumulate` of a rank in one mini-batch: groups, micro-batches, padding.

    In ZeRO 0 and 1 each micro-batch is a call of its own, and a rank that has none makes no call. In lockstep there is
    one call, padded to the `num_in_step` passes that the rank with most makes.
    """
    chosen = [keys[index] for index in own]
    if spec.deepspeed.zero_stage < 2:
        return [(share_of(groups, spec, (key,)), [key], 0) for key in chosen]
    needed = tuple(chosen) or (keys[0],)
    return [(share_of(groups, spec, needed), chosen, num_in_step - len(chosen))]


def trained(task: dict[str, Any], case: Case, rank: int, world_size: int) -> dict[str, Any]:
    """Train the stale batch of `task`; alone, a rank takes every micro-batch."""
    algorithm, stage, shares = case
    given: RunSpec = task["specs"][algorithm]
    spec = given.model_copy(update={"deepspeed": DeepSpeedSpec.model_validate({"config": f"zero{stage}"})})
    trainer = trainer_rank(spec, task["path"], rank, world_size)
    trainer.load_version(task["current"])
    algebra, groups = spec.algebra, task["groups"][algorithm]
    num_own = []
    for step, of_rank_0 in enumerate(shares):
        epoch, minibatch = divmod(step, algebra.num_minibatches)
        keys = keys_of(algebra, minibatch)
        every = tuple(range(len(keys)))
        of_rank_1 = tuple(index for index in every if index not in of_rank_0)
        own = every if world_size == 1 else (of_rank_0, of_rank_1)[rank]
        num_pairs = 0
        num_in_step = len(every) if world_size == 1 else max(len(of_rank_0), len(of_rank_1))
        for share, chosen, num_padding in passes_of_rank(spec, groups, keys, own, num_in_step):
            num_pairs += trainer.accumulate(
                share,
                chosen,
                num_pairs_total=algebra.num_pairs_per_optimizer_step,
                fresh=epoch == minibatch == 0,
                staleness=1,
                behaviour=task["behaviour"],
                num_padding=num_padding,
            ).num_pairs
        num_own.append(num_pairs)
        trainer.commit()
    return {"log_ratios": trainer._proximal._log_ratios.cpu(), "version": trainer.version(2), "num_own": num_own}


def error_of_a_rank_that_was_loaded_in_mid_batch(task: dict[str, Any], rank: int, world_size: int) -> str:
    """What `commit` raises in the second step of a batch when rank 0 was loaded after the first one.

    Rank 0 takes nothing of the second step, so that no other rank sees by its passes what it believes.
    """
    spec: RunSpec = task["specs"]["flow_grpo"]
    trainer = trainer_rank(spec, task["path"], rank, world_size)
    trainer.load_version(task["current"])
    for minibatch in (0, 1):
        if rank == 1:
            keys = keys_of(spec.algebra, minibatch)
            groups = [group for group in task["groups"]["flow_grpo"] if group.group in {key.group for key in keys}]
            trainer.accumulate(
                groups,
                keys,
                num_pairs_total=spec.algebra.num_pairs_per_optimizer_step,
                fresh=minibatch == 0,
                staleness=1,
                behaviour=task["behaviour"],
            )
        try:
            trainer.commit()
        except MinibatchError as error:
            return str(error)
        if rank == 0:
            trainer.load_version(task["current"])
    return "no error"


def run(task: dict[str, Any], rank: int, world_size: int, folder: Path) -> dict[Case | str, Any]:
    results: dict[Case | str, Any] = {case: trained(task, case, rank, world_size) for case in CASES}
    results["error"] = error_of_a_rank_that_was_loaded_in_mid_batch(task, rank, world_size)
    return results
