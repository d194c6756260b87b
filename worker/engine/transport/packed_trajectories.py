"""Trajectories as Ray carries them: cut into parts whose tensors are packed, as those of a policy version are.

    Trajectories ─ cut ─► a part for each `Part` ─ pack ─► PackedTrajectories ─ Ray ─► unpack ─► Trajectories

Invariant: no tensor is copied here. A part's tensors are slices of the fragment's, whose bytes Ray copies into shared
memory once; unpacked they are views of that memory, from which a trainer rank copies them to its device once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.prompts import Prompt
from worker.engine.transport.parts import Part, micro_batches_of_group
from worker.engine.types import PackedTensor, Trajectories
from worker.scheduling.core.messages import Fragment


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedTrajectories:
    """A `Trajectories` whose tensors are bytes; the fields are its fields."""

    fragment: Fragment
    prompt: Prompt
    members: tuple[int, ...]
    sde_indices: tuple[int, ...]
    sigmas: PackedTensor
    states: Mapping[int, PackedTensor]
    log_probs: PackedTensor
    means: Mapping[int, PackedTensor]
    clean: PackedTensor | None
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, trajectories: Trajectories) -> "PackedTrajectories":
        """Pack tensors, whose memory is shared. All must be contiguous, as slices of members are."""
        return cls(
            fragment=trajectories.fragment,
            prompt=trajectories.prompt,
            members=trajectories.members,
            sde_indices=trajectories.sde_indices,
            sigmas=PackedTensor.of(trajectories.sigmas),
            states={step: PackedTensor.of(state) for step, state in trajectories.states.items()},
            log_probs=PackedTensor.of(trajectories.log_probs),
            means={step: PackedTensor.of(mean) for step, mean in trajectories.means.items()},
            clean=None if trajectories.clean is None else PackedTensor.of(trajectories.clean),
            seeds=trajectories.seeds,
        )

    def unpacked(self) -> Trajectories:
        """Views of the bytes, which callers read and never write."""
        return Trajectories(
            fragment=self.fragment,
            prompt=self.prompt,
            members=self.members,
            sde_indices=self.sde_indices,
            sigmas=self.sigmas.tensor(),
            states={step: state.tensor() for step, state in self.states.items()},
            log_probs=self.log_probs.tensor(),
            means={step: mean.tensor() for step, mean in self.means.items()},
            clean=None if self.clean is None else self.clean.tensor(),
            seeds=self.seeds,
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
