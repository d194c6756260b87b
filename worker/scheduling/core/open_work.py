"""Open work: batches and evaluations that have begun and are not complete.

    admission ──► begin_batch ───┐                      ┌──► head: the batch being trained
    EvaluationRequested ──► open_evaluation ──► fragments in the queue, an assembler that collects them
                                                        └──► take_complete_evaluations

    a group without spread is complete ──► scored ──► fragments of its next draw in the queue, where draws are left

Invariant: each piece of work is of one policy version from its beginning to its end, further draws included, and all of
its first fragments are put in the queue at once, in index order.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from worker.scheduling.core.admission import BatchSettings, OpenBatch
from worker.scheduling.core.fragment_queue import split_into_fragments
from worker.scheduling.core.generation import Generation
from worker.scheduling.core.group_assembler import GroupAssembler
from worker.scheduling.core.messages import EvaluationComplete, EvaluationRequested, FragmentKey, Purpose, Scored
from worker.scheduling.core.protocol import ProtocolError
from worker.scheduling.core.spread_share import SpreadShare


@dataclass(frozen=True, slots=True)
class _OpenEvaluation:
    request: EvaluationRequested
    assembler: GroupAssembler


class OpenWork:
    """Opens batches and evaluations, and finds the one that a fragment belongs to."""

    def __init__(self, settings: BatchSettings, generation: Generation) -> None:
        self.settings = settings
        """Those of the batches that begin from now on."""
        self._generation = generation
        self._evaluations: dict[tuple[Purpose, int], _OpenEvaluation] = {}
        self.batches: dict[int, OpenBatch] = {}
        """Open batches by number, the oldest first."""
        self.spread = SpreadShare()
        """The share of groups without spread, measured on every draw of a training group."""

    def __bool__(self) -> bool:
        return bool(self.batches or self._evaluations)

    @property
    def head(self) -> OpenBatch | None:
        """The batch being trained: the oldest one open."""
        return next(iter(self.batches.values()), None)

    @property
    def policy_versions(self) -> frozenset[int]:
        """The versions of all open work."""
        of_evaluations = {evaluation.request.policy_version for evaluation in self._evaluations.values()}
        return frozenset(of_evaluations | {batch.policy_version for batch in self.batches.values()})

    @property
    def num_ungenerated(self) -> int:
        """The number of fragments that no lane has generated."""
        return sum(assembler.num_fragments - assembler.num_generated for assembler in self._assemblers())

    @property
    def num_unscored(self) -> int:
        """The number of fragments without rewards, those not generated included."""
        return sum(assembler.num_fragments - assembler.num_scored for assembler in self._assemblers())

    def begin_batch(self, number: int, policy_version: int) -> None:
        """Open batch `number` and put all its fragments in the queue."""
        algebra = self.settings.algebra
        assembler = self._open(Purpose.TRAIN, number, algebra.num_groups, algebra.group_size, policy_version)
        training = self.settings.training_of(number, assembler)
        self.batches[number] = OpenBatch(number, policy_version, assembler, training, algebra.fragment_size)

    def open_evaluation(self, request: EvaluationRequested) -> None:
        """Raises `ProtocolError` for an evaluation that is open already, and for the purpose of batches."""
        if request.purpose is Purpose.TRAIN:
            raise ProtocolError("`purpose` must be `evaluate` or `request`, got `train`: batches begin by admission")
        if (request.purpose, request.batch) in self._evaluations:
            raise ProtocolError(
                f"`{request.purpose}` at batch {request.batch} is under way: "
                f"wait for its `EvaluationComplete` to ask again"
            )
        assembler = self._open(
            request.purpose, request.batch, request.num_groups, request.group_size, request.policy_version
        )
        self._evaluations[request.purpose, request.batch] = _OpenEvaluation(request, assembler)

    def scored(self, event: Scored) -> None:
        """Store a fragment's rewards; a group that they complete is trained, skipped or drawn again. Raises
        `ProtocolError` as `GroupAssembler.scored`."""
        key, assembler = event.key, self.assembler_of(event.key)
        drawn_again = assembler.scored(key, event.rewards, has_spread=event.has_spread)
        self._generation.enqueue(drawn_again)
        if key.purpose is Purpose.TRAIN and (drawn_again or assembler.is_group_complete(key.group)):
            self.spread.observe(has_spread=event.has_spread)
            self.batches[key.batch].training.take_complete_groups()

    def take_complete_evaluations(self) -> Iterator[EvaluationComplete]:
        """Close the evaluations whose fragments are all scored."""
        for identity, evaluation in list(self._evaluations.items()):
            if evaluation.assembler.is_complete:
                del self._evaluations[identity]
                yield EvaluationComplete(*identity, evaluation.assembler.all_rewards())

    def assembler_of(self, key: FragmentKey) -> GroupAssembler:
        """The assembler that collects this fragment. Raises `ProtocolError` where no open work has it."""
        work: OpenBatch | _OpenEvaluation | None
        if key.purpose is Purpose.TRAIN:
            work = self.batches.get(key.batch)
        else:
            work = self._evaluations.get((key.purpose, key.batch))
        if work is None:
            raise ProtocolError(
                f"{key} must belong to an open batch or evaluation, got one that is complete or never began: "
                "apply each answer once"
            )
        return work.assembler

    def _open(
        self, purpose: Purpose, batch: int, num_groups: int, group_size: int, policy_version: int
    ) -> GroupAssembler:
        algebra = self.settings.algebra
        fragments = list(
            split_into_fragments(
                purpose=purpose,
                batch=batch,
                num_groups=num_groups,
                group_size=group_size,
                fragment_size=algebra.fragment_size,
                policy_version=policy_version,
            )
        )
        self._generation.enqueue(fragments)
        return GroupAssembler(
            fragments,
            num_groups_per_part=algebra.num_groups_per_minibatch,
            max_resamples=algebra.max_resamples if purpose is Purpose.TRAIN else 0,
        )

    def _assemblers(self) -> Iterator[GroupAssembler]:
        for batch in self.batches.values():
            yield batch.assembler
        for evaluation in self._evaluations.values():
            yield evaluation.assembler
