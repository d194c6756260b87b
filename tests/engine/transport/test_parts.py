"""However fragments are cut, every micro-batch finds what it needs in the parts that name it, and nothing is stored
twice."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.transport.packed_trajectories import PackedTrajectories, cut
from worker.engine.transport.parts import (
    MIN_PART_BYTES,
    FragmentParts,
    Part,
    cut_members,
    micro_batches_of_group,
)
from worker.engine.types import Trajectories
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

SHAPE = (2, 3)


@st.composite
def algebras(draw: st.DrawFn) -> BatchAlgebra:
    """Fragments and micro-batches that fit into each other, and that do not."""
    group_size = draw(st.integers(2, 8))
    batch = BatchSpec(
        num_prompts_per_batch=1,
        group_size=group_size,
        fragment_size=draw(st.sampled_from([size for size in range(1, group_size + 1) if not group_size % size])),
        micro_batch_size=draw(st.integers(1, 20)),
    )
    return BatchAlgebra.resolve(batch, SamplingSpec(num_denoising_steps=draw(st.integers(3, 8))))


@st.composite
def stored_steps(draw: st.DrawFn, number: int) -> tuple[int, ...]:
    """Consecutive steps and others."""
    gaps = draw(st.lists(st.integers(1, 2), min_size=number, max_size=number))
    return tuple(sum(gaps[:index]) for index in range(number))


def fragments(algebra: BatchAlgebra, steps: tuple[int, ...]) -> list[Trajectories]:
    """A group's fragments, in which every number differs."""
    generator = torch.Generator().manual_seed(0)

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    size = algebra.fragment_size
    return [
        Trajectories(
            fragment=Fragment(FragmentKey(Purpose.TRAIN, 0, 0, first // size), tuple(range(first, first + size)), 0),
            prompt=Prompt(text="a prompt"),
            members=tuple(range(first, first + size)),
            sde_indices=steps,
            sigmas=torch.linspace(1, 0, 20),
            states={step: tensor(size, *SHAPE) for step in sorted({*steps, *(step + 1 for step in steps)})},
            log_probs=tensor(size, len(steps)),
            means={step: tensor(size, *SHAPE) for step in steps},
            seeds=tuple(range(first, first + size)),
        )
        for first in range(0, algebra.group_size, size)
    ]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), algebra=algebras(), by_step=st.booleans())
def test_a_micro_batch_finds_its_rows_in_the_parts_that_name_it(
    data: st.DataObject, algebra: BatchAlgebra, by_step: bool
) -> None:
    num_steps = algebra.num_trained_denoising_steps
    steps = data.draw(stored_steps(num_steps))
    whole = fragments(algebra, steps)
    planned = [cut_members(algebra, fragment.members, by_step=by_step) for fragment in whole]
    made = [cut(fragment, parts, algebra) for fragment, parts in zip(whole, planned, strict=True)]
    for index, micro in enumerate(micro_batches_of_group(algebra)):
        own = [
            part
            for plans, parts in zip(planned, made, strict=True)
            for plan, part in zip(plans, parts, strict=True)
            if index in plan.micro_batches
        ]
        for pair in micro.pairs:
            member, slot = divmod(pair, num_steps)
            fragment = whole[member // algebra.fragment_size]
            row = fragment.members.index(member)
            for step in (steps[slot], steps[slot] + 1):
                rows = [part.states[step][part.members.index(member)] for part in own if holds(part, member, step)]
                assert len(rows) == 1 and torch.equal(rows[0], fragment.states[step][row])
            means = [part for part in own if member in part.members and steps[slot] in part.means]
            assert len(means) == 1
            log_probs = {part.log_probs[part.members.index(member), slot] for part in own if member in part.members}
            assert {float(value) for value in log_probs} == {float(fragment.log_probs[row, slot])}


def holds(part: Trajectories, member: int, step: int) -> bool:
    return member in part.members and step in part.states


@settings(max_examples=150, deadline=None)
@given(data=st.data(), algebra=algebras(), by_step=st.booleans())
def test_every_latent_and_mean_is_stored_once(data: st.DataObject, algebra: BatchAlgebra, by_step: bool) -> None:
    for fragment in fragments(algebra, data.draw(stored_steps(algebra.num_trained_denoising_steps))):
        made = cut(fragment, cut_members(algebra, fragment.members, by_step=by_step), algebra)
        for kind in ("states", "means"):
            values = torch.cat([tensor.flatten() for part in made for tensor in getattr(part, kind).values()])
            expected = torch.cat([tensor.flatten() for tensor in getattr(fragment, kind).values()])
            assert torch.equal(values.sort().values, expected.sort().values)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), algebra=algebras())
def test_cutting_and_packing_copy_no_latents(data: st.DataObject, algebra: BatchAlgebra) -> None:
    fragment = fragments(algebra, data.draw(stored_steps(algebra.num_trained_denoising_steps)))[0]
    owned = {state.untyped_storage().data_ptr(): step for step, state in fragment.states.items()}
    for part in cut(fragment, cut_members(algebra, fragment.members, by_step=True), algebra):
        unpacked = PackedTrajectories.of(part).unpacked()
        assert unpacked.members == part.members and unpacked.seeds == part.seeds
        for step, state in part.states.items():
            assert owned[state.untyped_storage().data_ptr()] == step
            assert unpacked.states[step].data_ptr() == state.data_ptr()
            assert torch.equal(unpacked.states[step], state)
        for step, mean in part.means.items():
            assert torch.equal(unpacked.means[step], mean)
        assert torch.equal(unpacked.log_probs, part.log_probs) and torch.equal(unpacked.sigmas, part.sigmas)


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": ["one", "two"]},
            "rewards": [{"name": "colorfulness"}],
            "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4},
            "batch": {"num_prompts_per_batch": 2, "group_size": 4, "micro_batch_size": 2},
        }
    )


def test_fragments_are_cut_for_several_ranks_and_once_they_are_known_to_be_large(spec: RunSpec) -> None:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1, 2, 3), 0)
    whole = (Part((0, 1, 2, 3), (0, 1, 2, 3, 4, 5)),)
    parts = FragmentParts(spec)
    assert parts.of(fragment, num_ranks=2) == whole
    # 2 chunks of 2 members, with 3 micro-batches and the latents between each two of them.
    parts.observe(10 * MIN_PART_BYTES - 1, num_trajectories=4)
    assert parts.of(fragment, num_ranks=2) == whole
    parts.observe(10 * MIN_PART_BYTES, num_trajectories=4)
    assert len(parts.of(fragment, num_ranks=2)) == 10
    assert parts.of(fragment, num_ranks=1) == whole
    evaluated = replace(fragment, key=replace(fragment.key, purpose=Purpose.EVALUATE))
    assert parts.of(evaluated, num_ranks=2) == ()


def test_smaller_fragments_count_as_so_much_smaller(spec: RunSpec) -> None:
    parts = FragmentParts(spec)
    parts.observe(10 * MIN_PART_BYTES, num_trajectories=4)
    smaller = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0,), 0)
    # A member of its own has 3 micro-batches and the latents between each two of them: half of a chunk's bytes.
    assert len(parts.of(smaller, num_ranks=2)) == 1


def test_without_time_step_parallelism_all_steps_of_a_chunk_are_one_part(spec: RunSpec) -> None:
    together = spec.model_copy(update={"pipeline": spec.pipeline.model_copy(update={"tsp": False})})
    parts = FragmentParts(together)
    parts.observe(10 * MIN_PART_BYTES, num_trajectories=4)
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), (0, 1, 2, 3), 0)
    assert parts.of(fragment, num_ranks=2) == (Part((0, 1), (0, 1, 2)), Part((2, 3), (3, 4, 5)))


def test_preference_pairs_may_be_of_any_members(spec: RunSpec) -> None:
    algorithm = {"name": "diffusion_dpo", "num_preferences": 1, "num_noise_levels": 3}
    algebra = RunSpec.model_validate({**spec.model_dump(), "algorithm": algorithm}).algebra
    (part,) = cut_members(algebra, (2, 3), by_step=False)
    assert part == Part((2, 3), tuple(range(len(micro_batches_of_group(algebra)))))
