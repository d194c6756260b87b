"""What the driver holds of every fragment under way: references to its tensors, and its rewards.

Fragments come in any order and are read in index order. A batch's references are dropped when it is published, an
evaluation's when it is reported; until then every epoch may need the trajectories again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ray import ObjectRef

from worker.engine.types import ScoredFragment
from worker.pipeline.types import Fragment, FragmentKey, Purpose


@dataclass(slots=True, kw_only=True)
class FragmentRecord:
    """One generated fragment; `scored` follows."""

    fragment: Fragment
    prompt: str
    prompt_index: int
    lane: str
    seeds: tuple[int, ...]
    images: ObjectRef
    """(N, H, W, 3) uint8."""
    trajectories: ObjectRef
    scored: ScoredFragment | None = None


class FragmentShelf:
    """Records by key. A fragment generated again after a lane was lost replaces its first record."""

    def __init__(self) -> None:
        self._records: dict[FragmentKey, FragmentRecord] = {}

    def __getitem__(self, key: FragmentKey) -> FragmentRecord:
        return self._records[key]

    def put(self, record: FragmentRecord) -> None:
        self._records[record.fragment.key] = record

    def of_group(self, purpose: Purpose, batch: int, group: int) -> list[FragmentRecord]:
        """The group's fragments in member order."""
        return [record for record in self.of_batch(purpose, batch) if record.fragment.key.group == group]

    def of_batch(self, purpose: Purpose, batch: int) -> list[FragmentRecord]:
        """All fragments of a batch, an evaluation or a request, by group and then member order."""
        return [self._records[key] for key in sorted(self._keys(purpose, batch))]

    def drop(self, purpose: Purpose, batch: int) -> None:
        """Let go of the references, and with them of the tensors."""
        for key in list(self._keys(purpose, batch)):
            del self._records[key]

    def clear(self) -> None:
        self._records.clear()

    def _keys(self, purpose: Purpose, batch: int) -> Iterator[FragmentKey]:
        return (key for key in self._records if (key.purpose, key.batch) == (purpose, batch))
