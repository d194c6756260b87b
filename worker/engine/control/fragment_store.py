"""What the driver stores of every open fragment: references to its tensors in Ray's object store, and its rewards.

Fragments arrive in any order and are read in index order. A batch's references are dropped when it is trained, an
evaluation's when it is reported, a group's when it is drawn again; until then every epoch may need the trajectories
again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ray import ObjectRef

from worker.contracts.prompts import Prompt
from worker.engine.transport.parts import Part
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, MicroBatchKey, Purpose


@dataclass(slots=True, kw_only=True)
class FragmentRecord:
    """One generated fragment."""

    fragment: Fragment
    prompt: Prompt
    prompt_index: int
    lane: str
    """The lane that generated the fragment."""
    seeds: tuple[int, ...]
    """The noise seed of each member."""
    images: ObjectRef
    """A reference to pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8."""
    parts: Mapping[Part, ObjectRef]
    """References to the `PackedTrajectories` of each part; none for a fragment that is not trained on."""
    scored: ScoredFragment | None = None
    """The rewards, as soon as the fragment is scored."""


class FragmentStore:
    """Records by fragment key. A fragment that is generated again replaces its first record."""

    def __init__(self) -> None:
        self._batches: dict[tuple[Purpose, int], dict[int, dict[int, FragmentRecord]]] = {}
        """By (purpose, batch), then group, then index within the group."""

    def __getitem__(self, key: FragmentKey) -> FragmentRecord:
        return self._batches[key.purpose, key.batch][key.group][key.index]

    def put(self, record: FragmentRecord) -> None:
        """Store a record under its fragment's key."""
        key = record.fragment.key
        groups = self._batches.setdefault((key.purpose, key.batch), {})
        groups.setdefault(key.group, {})[key.index] = record

    def version_of(self, batch: int) -> int:
        """The policy version that generates a batch. Raises `KeyError` before its first fragment is generated."""
        group = next(iter(self._batches[Purpose.TRAIN, batch].values()))
        return next(iter(group.values())).fragment.policy_version

    def of_group(self, purpose: Purpose, batch: int, group: int) -> list[FragmentRecord]:
        """The group's fragments in member order."""
        return [record for _, record in sorted(self._batches[purpose, batch][group].items())]

    def is_scored(self, batch: int, group: int, group_size: int) -> bool:
        """Whether all `group_size` trajectories of a training group are generated and scored."""
        records = self._batches[Purpose.TRAIN, batch].get(group, {}).values()
        return sum(len(record.fragment.members) for record in records if record.scored is not None) == group_size

    def parts_for(self, batch: int, micro_batches: Collection[MicroBatchKey]) -> dict[int, list[ObjectRef]]:
        """By group: references to the parts of training fragments that `micro_batches` need, each once."""
        indices: dict[int, set[int]] = {}
        for key in micro_batches:
            indices.setdefault(key.group, set()).add(key.index)
        return {
            group: [
                ref
                for record in self.of_group(Purpose.TRAIN, batch, group)
                for part, ref in record.parts.items()
                if not own.isdisjoint(part.micro_batches)
            ]
            for group, own in indices.items()
        }

    def of_batch(self, purpose: Purpose, batch: int) -> list[FragmentRecord]:
        """All fragments of a batch, an evaluation or a request, by group and then member order."""
        groups = sorted(self._batches[purpose, batch])
        return [record for group in groups for record in self.of_group(purpose, batch, group)]

    def drop_group(self, purpose: Purpose, batch: int, group: int) -> None:
        """Drop the references of one group, which is drawn again."""
        del self._batches[purpose, batch][group]

    def drop(self, purpose: Purpose, batch: int) -> None:
        """Drop the references of a batch, so that Ray frees the tensors."""
        del self._batches[purpose, batch]

    def clear(self) -> None:
        """Drop all references."""
        self._batches.clear()
