"""What the driver holds of every fragment under way: references to its tensors, and its rewards.

Fragments come in any order and are read in index order. A batch's references are dropped when it is published, an
evaluation's when it is reported; until then every epoch may need the trajectories again.
"""

from dataclasses import dataclass

from ray import ObjectRef

from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose


@dataclass(slots=True, kw_only=True)
class FragmentRecord:
    """One generated fragment; `scored` follows."""

    fragment: Fragment
    prompt: str
    prompt_index: int
    lane: str
    seeds: tuple[int, ...]
    images: ObjectRef
    """Pictures (N, H, W, 3) or clips (N, F, H, W, 3), uint8."""
    trajectories: ObjectRef
    scored: ScoredFragment | None = None


class FragmentStore:
    """Records by purpose and batch, group and index. A fragment generated again replaces its first record."""

    def __init__(self) -> None:
        self._batches: dict[tuple[Purpose, int], dict[int, dict[int, FragmentRecord]]] = {}

    def __getitem__(self, key: FragmentKey) -> FragmentRecord:
        return self._batches[key.purpose, key.batch][key.group][key.index]

    def put(self, record: FragmentRecord) -> None:
        key = record.fragment.key
        groups = self._batches.setdefault((key.purpose, key.batch), {})
        groups.setdefault(key.group, {})[key.index] = record

    def version_of(self, batch: int) -> int:
        """The one policy version that drew a batch of which something is generated."""
        group = next(iter(self._batches[Purpose.TRAIN, batch].values()))
        return next(iter(group.values())).fragment.policy_version

    def of_group(self, purpose: Purpose, batch: int, group: int) -> list[FragmentRecord]:
        """The group's fragments in member order."""
        return [record for _, record in sorted(self._batches[purpose, batch][group].items())]

    def of_batch(self, purpose: Purpose, batch: int) -> list[FragmentRecord]:
        """All fragments of a batch, an evaluation or a request, by group and then member order."""
        groups = sorted(self._batches[purpose, batch])
        return [record for group in groups for record in self.of_group(purpose, batch, group)]

    def drop(self, purpose: Purpose, batch: int) -> None:
        """Let go of the references, and with them of the tensors."""
        del self._batches[purpose, batch]

    def clear(self) -> None:
        self._batches.clear()
