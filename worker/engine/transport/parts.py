"""How a fragment's trajectories are cut into parts, each a value of its own in Ray's object store.

```text
fragment ─► chunks of members ─► one part for each micro-batch           what it alone needs
                                 one for each two neighbours             the latents between them
```

Any rank may take any micro-batch, so a part holds what the same micro-batches need: a rank fetches its share and no
more, and latents that two micro-batches need are stored once. The driver decides how a fragment is cut and tells the
generating lane with the call, so that both know.

Parts are worth it between nodes; on one node ranks read the same memory. An object costs milliseconds whatever its
size, so small fragments stay whole. Torch is not imported here: the driver does without.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.run_spec import RunSpec
from worker.scheduling.core.batching import MicroBatch, split_group
from worker.scheduling.core.messages import Fragment, Purpose

MIN_PART_BYTES = 4 * 2**20
"""The fewest bytes of a part, on average over a fragment: below it the fragment stays whole. A put and a get of an
object take some 3 ms here however small it is (`make bench-transport`), in which a link of 10 Gbit/s carries 4 MB."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some tensors of some members of a fragment: those that the same micro-batches need."""

    members: tuple[int, ...]
    """Indices of the members within their group, consecutive within the fragment."""
    micro_batches: tuple[int, ...]
    """Indices of the group's micro-batches that need the part, in the order of `split_group`."""


class FragmentParts:
    """Decides how the fragments of a run are cut."""

    def __init__(self, spec: RunSpec) -> None:
        self._algebra = spec.algebra
        self._by_step = spec.pipeline.tsp and spec.algorithm.needs.log_probs
        """Whether micro-batches of the same members may go to different ranks and need different tensors."""
        self._trajectory_num_bytes = 0.0
        """The most bytes of a trajectory, in mean over its fragment, that were observed."""

    def observe(self, num_bytes: int, *, num_trajectories: int) -> None:
        """Note the bytes of a generated fragment; until the first one is known, fragments stay whole."""
        self._trajectory_num_bytes = max(self._trajectory_num_bytes, num_bytes / num_trajectories)

    def of(self, fragment: Fragment, *, num_ranks: int) -> tuple[Part, ...]:
        """The parts of a fragment for `num_ranks` trainer ranks; none for one that is not trained on."""
        if fragment.key.purpose is not Purpose.TRAIN:
            return ()
        parts = cut_members(self._algebra, fragment.members, by_step=self._by_step)
        num_bytes = self._trajectory_num_bytes * len(fragment.members)
        if num_ranks > 1 and num_bytes >= len(parts) * MIN_PART_BYTES:
            return parts
        return (Part(fragment.members, tuple(sorted({index for part in parts for index in part.micro_batches}))),)


def cut_members(algebra: BatchAlgebra, members: Sequence[int], *, by_step: bool) -> tuple[Part, ...]:
    """The parts of a fragment's `members`, by chunk of the group; with `by_step` also by micro-batch.

    Preference pairs may be of any members, which advantages decide later, so there the fragment is one part.
    """
    micro_batches = micro_batches_of_group(algebra)
    if algebra.num_trained_members is not None:
        return (Part(tuple(members), tuple(range(len(micro_batches)))),)
    parts, first = list[Part](), 0
    for chunk in split_group(algebra, 0):
        indices = tuple(range(first, first + len(chunk)))
        first += len(chunk)
        of_chunk = {pair // algebra.num_trained_denoising_steps for pair in chunk[0].pairs}
        own = tuple(member for member in members if member in of_chunk)
        if own and by_step:
            parts += [Part(own, (index,)) for index in indices]
            parts += [Part(own, neighbours) for neighbours in pairwise(indices)]
        elif own:
            parts.append(Part(own, indices))
    return tuple(parts)


def micro_batches_of_group(algebra: BatchAlgebra, group: int = 0) -> list[MicroBatch]:
    """The micro-batches of a group by index, as `MicroBatchKey` counts them."""
    return [micro for chunk in split_group(algebra, group) for micro in chunk]
