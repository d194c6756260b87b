"""Trajectories as Ray carries them: cut into parts whose tensors are packed, as those of a policy version are.

    Trajectories ─ cut ─► a part for each `Part` ─ pack ─► PackedTrajectories ─ Ray ─► unpack ─► Trajectories

Invariant: no tensor is copied here. A part's tensors are slices of the fragment's, whose bytes Ray copies into shared
memory once; unpacked they are views of that memory, from which a trainer rank copies them to its device once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.prompts import Prompt
from worker.engine.transport.parts import Part, micro_batches_of_group
from worker.engine.types import PackedTensor, Trajectories
from worker.scheduling.core.messages import Fragment


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """Where a tensor's bytes lie in the buffers of `PackedTrajectories`."""

    dtype: str
    """As in `PackedTensor`."""
    shape: tuple[int, ...]
    buffer: int
    """The index of the buffer."""
    start: int
    """The first of the tensor's bytes within it."""
    num_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTrajectories:
    """A `Trajectories` whose tensors are bytes; the other fields are its fields."""

    fragment: Fragment
    prompt: Prompt
    members: tuple[int, ...]
    sde_indices: tuple[int, ...]
    seeds: tuple[int, ...]
    tensors: Mapping[tuple[str, int], TensorSlice]
    """By the name of the field and, for states and means, the denoising step; otherwise 0."""
    buffers: tuple[np.ndarray, ...]
    """Each (num_bytes,) uint8. Tensors that lie side by side in memory share one: Ray hands every buffer to several
    threads, which for a few MiB takes longer than the copy."""

    @classmethod
    def of(cls, trajectories: Trajectories) -> "PackedTrajectories":
        """Pack tensors, whose memory is shared where they are contiguous, as slices of members are."""
        named = {("states", step): trajectories.states[step] for step in sorted(trajectories.states)}
        named |= {("means", step): trajectories.means[step] for step in sorted(trajectories.means)}
        named |= {("sigmas", 0): trajectories.sigmas, ("log_probs", 0): trajectories.log_probs}
        if trajectories.clean is not None:
            named["clean", 0] = trajectories.clean
        slices, buffers = _side_by_side(named)
        return cls(
            fragment=trajectories.fragment,
            prompt=trajectories.prompt,
            members=trajectories.members,
            sde_indices=trajectories.sde_indices,
            seeds=trajectories.seeds,
            tensors=slices,
            buffers=buffers,
        )

    def unpacked(self) -> Trajectories:
        """Views of the bytes, which callers read and never write."""
        views = {key: self._view(where) for key, where in self.tensors.items()}
        return Trajectories(
            fragment=self.fragment,
            prompt=self.prompt,
            members=self.members,
            sde_indices=self.sde_indices,
            sigmas=views["sigmas", 0],
            states={step: view for (field, step), view in views.items() if field == "states"},
            log_probs=views["log_probs", 0],
            means={step: view for (field, step), view in views.items() if field == "means"},
            clean=views.get(("clean", 0)),
            seeds=self.seeds,
        )

    def _view(self, where: TensorSlice) -> torch.Tensor:
        content = self.buffers[where.buffer][where.start : where.start + where.num_bytes]
        return PackedTensor(where.dtype, where.shape, content).tensor()


def _side_by_side(
    named: Mapping[tuple[str, int], torch.Tensor],
) -> tuple[dict[tuple[str, int], TensorSlice], tuple[np.ndarray, ...]]:
    """The slice of each tensor, and the buffers: as few as the tensors' places in memory allow, in their order."""
    slices, runs = dict[tuple[str, int], TensorSlice](), list[tuple[torch.UntypedStorage, int, int]]()
    for key, given in named.items():
        tensor = given.detach().contiguous()
        storage, start = tensor.untyped_storage(), tensor.storage_offset() * tensor.element_size()
        if runs and runs[-1][0].data_ptr() == storage.data_ptr() and runs[-1][2] == start:
            runs[-1] = (storage, runs[-1][1], start + tensor.nbytes)
        else:
            runs.append((storage, start, start + tensor.nbytes))
        dtype = str(tensor.dtype).removeprefix("torch.")
        slices[key] = TensorSlice(dtype, tuple(tensor.shape), len(runs) - 1, start - runs[-1][1], tensor.nbytes)
    empty = torch.empty(0, dtype=torch.uint8)
    return slices, tuple(
        empty.new_empty(0).set_(storage, start, (end - start,)).numpy() for storage, start, end in runs
    )


def cut(trajectories: Trajectories, parts: Sequence[Part], algebra: BatchAlgebra) -> list[Trajectories]:
    """The parts of a fragment, whose tensors are slices of the fragment's.

    Every tensor goes into the part that the fewest micro-batches need besides those that need the tensor, which is one
    of exactly those where `parts` are by step.
    """
    slots = [
        {pair % algebra.num_trained_denoising_steps for pair in micro.pairs}
        for micro in micro_batches_of_group(algebra)
    ]
    return [_part(trajectories, part, parts, slots) for part in parts]


def _part(trajectories: Trajectories, part: Part, parts: Sequence[Part], slots: Sequence[set[int]]) -> Trajectories:
    """The tensors of one of `parts`; `slots` are, by index of the micro-batch, its steps' indices among the stored."""
    siblings = [other for other in parts if other.members == part.members]
    everyone = {index for other in siblings for index in other.micro_batches}

    def holds(*steps: int) -> bool:
        """Whether what is needed at the denoising steps `steps` belongs into `part`."""
        if len(siblings) == 1:
            return True
        users = {index for index in everyone if any(trajectories.sde_indices[slot] in steps for slot in slots[index])}
        fitting = [other for other in siblings if users <= set(other.micro_batches)]
        return part is min(fitting, key=lambda other: len(other.micro_batches))

    first = trajectories.members.index(part.members[0])
    rows = slice(first, first + len(part.members))
    if trajectories.members[rows] != part.members:
        raise ValueError(f"a part's members must follow each other in {trajectories.members}, got {part.members}")
    return replace(
        trajectories,
        members=part.members,
        # Latents are those before their step and, if it is replayed, after the step before it.
        states={step: state[rows] for step, state in trajectories.states.items() if holds(step - 1, step)},
        log_probs=trajectories.log_probs[rows],
        means={step: mean[rows] for step, mean in trajectories.means.items() if holds(step)},
        clean=None if trajectories.clean is None else trajectories.clean[rows],
        seeds=trajectories.seeds[rows],
    )
