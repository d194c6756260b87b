"""The sampler: same seeds give the same pictures, a fragment has one version, evaluation equals diffusers."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from diffusers import FluxPipeline

from tests.engine.sharing_embeddings import load_sampler
from tests.engine.stacked import latents_of, means_of, next_latents_of
from worker.contracts.algorithms import DiffusionNftSpec
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import NonFiniteError, SyncError
from worker.engine.models.lora import lora_parameters
from worker.engine.rollout.noise import initial_noise, trajectory_seed
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack
from worker.engine.transport.packed_trajectories import PackedTrajectories
from worker.engine.types import GenerationRequest
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

PROMPT = "a red square"
OTHER_PROMPT = "a blue circle"


def request(
    purpose: Purpose = Purpose.TRAIN,
    *,
    members: tuple[int, ...] = (0, 1, 2, 3),
    version: int = 0,
    batch: int = 0,
    group: int = 0,
    prompt: str = PROMPT,
    draw: int = 0,
) -> GenerationRequest:
    fragment = Fragment(FragmentKey(purpose, batch, group, 0), members, version, draw)
    return GenerationRequest(fragment=fragment, prompt=Prompt(text=prompt), run_seed=3, prompt_index=group)


def with_fresh_adapter(spec: RunSpec, path: str) -> Sampler:
    sampler = load_sampler(spec, path)
    sampler.pull(pack(lora_parameters(sampler._model.transformer), 0))
    return sampler


@pytest.fixture(scope="module")
def sampler(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> Sampler:
    return with_fresh_adapter(make_spec(), tiny_checkpoint)


def test_evaluation_equals_the_diffusers_pipeline_for_the_same_noise(sampler: Sampler, tiny_checkpoint: str) -> None:
    made = sampler.generate(request(Purpose.EVALUATE))
    pipeline = FluxPipeline.from_pretrained(tiny_checkpoint)
    pipeline.set_progress_bar_config(disable=True)
    seeds = [trajectory_seed(3, Purpose.EVALUATE, 0, 0, member) for member in range(4)]
    expected = pipeline(
        [PROMPT] * 4,
        height=32,
        width=32,
        num_inference_steps=4,
        guidance_scale=1.0,
        max_sequence_length=6,
        latents=initial_noise(seeds, (16, 16)),
        output_type="np",
    ).images
    assert made.trajectories is None
    assert made.seeds == tuple(seeds)
    np.testing.assert_array_equal(made.images, (expected * 255).round().astype(np.uint8))


def test_a_members_trajectory_does_not_depend_on_the_fragment_it_is_drawn_in(sampler: Sampler) -> None:
    together = sampler.generate(request()).trajectories
    alone = sampler.generate(request(members=(2,))).trajectories
    assert together is not None and alone is not None
    torch.testing.assert_close(next_latents_of(together)[2:3], next_latents_of(alone), rtol=1e-5, atol=1e-5)
    assert torch.equal(latents_of(together)[2, 0], latents_of(alone)[0, 0])


def test_fragments_of_one_call_are_those_of_calls_of_their_own(sampler: Sampler) -> None:
    requests = [request(), request(group=1, prompt=OTHER_PROMPT), request(group=1, prompt=OTHER_PROMPT, draw=1)]
    together, alone = sampler.generate_all(requests), [sampler.generate(request) for request in requests]
    for one, other in zip(together, alone, strict=True):
        assert one.trajectories is not None and other.trajectories is not None
        assert (one.fragment, one.prompt, one.seeds) == (other.fragment, other.prompt, other.seeds)
        assert one.trajectories.seeds == one.seeds and one.trajectories.members == one.fragment.members
        for values in (latents_of, next_latents_of, means_of, lambda each: each.log_probs):
            torch.testing.assert_close(values(one.trajectories), values(other.trajectories), rtol=1e-5, atol=1e-5)
        assert np.abs(one.images.astype(int) - other.images).max() <= 1


def test_fragments_of_one_call_can_be_those_of_an_algorithm_that_trains_on_finished_samples(
    make_spec: Callable[..., RunSpec], tiny_checkpoint: str
) -> None:
    finished = {"algorithm": DiffusionNftSpec()}
    sampler = with_fresh_adapter(make_spec().model_copy(update=finished), tiny_checkpoint)
    requests = [request(), request(group=1, prompt=OTHER_PROMPT)]
    together, alone = sampler.generate_all(requests), [sampler.generate(each) for each in requests]
    for one, other in zip(together, alone, strict=True):
        assert one.trajectories is not None and one.trajectories.clean is not None
        assert other.trajectories is not None and other.trajectories.clean is not None
        assert not one.trajectories.states
        torch.testing.assert_close(one.trajectories.clean, other.trajectories.clean, rtol=1e-5, atol=1e-5)


def test_fragments_of_one_call_take_one_pass_a_denoising_step(sampler: Sampler) -> None:
    num_rows: list[int] = []
    hook = sampler._model.transformer.register_forward_pre_hook(
        lambda module, args, kwargs: num_rows.append(len(kwargs["hidden_states"])), with_kwargs=True
    )
    sampler.generate_all([request(), request(group=1, prompt=OTHER_PROMPT)])
    hook.remove()
    assert set(num_rows) == {8} and len(num_rows) == sampler._spec.sampling.num_denoising_steps


def test_each_fragment_of_a_call_travels_as_one_buffer_of_states_and_means(sampler: Sampler) -> None:
    for made in sampler.generate_all([request(), request(group=1, prompt=OTHER_PROMPT)]):
        assert made.trajectories is not None
        assert len(PackedTrajectories.of(made.trajectories).buffers) == 3, "states and means, sigmas, log-probs"


def test_a_second_draw_of_a_group_gives_other_samples(sampler: Sampler) -> None:
    one, other = sampler.generate(request()), sampler.generate(request(draw=1))
    assert set(one.seeds).isdisjoint(other.seeds)
    assert not np.array_equal(one.images, other.images)


def test_generating_twice_gives_the_same_bits(sampler: Sampler) -> None:
    one, other = sampler.generate(request()), sampler.generate(request())
    assert one.trajectories is not None and other.trajectories is not None
    assert torch.equal(next_latents_of(one.trajectories), next_latents_of(other.trajectories))
    np.testing.assert_array_equal(one.images, other.images)


def test_batches_draw_fresh_noise_for_training_and_the_same_for_evaluation(sampler: Sampler) -> None:
    first, second = sampler.generate(request(batch=0)), sampler.generate(request(batch=1))
    assert not np.array_equal(first.images, second.images)
    first, second = (sampler.generate(request(Purpose.EVALUATE, batch=batch)) for batch in (0, 9))
    np.testing.assert_array_equal(first.images, second.images)


def test_stored_transitions_are_consecutive_and_cover_the_window_alone(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec]
) -> None:
    spec = make_spec(sampling={"num_denoising_steps": 6, "sde_start": 1, "num_sde_steps": 3})
    drawn = with_fresh_adapter(spec, tiny_checkpoint).generate(request()).trajectories
    assert drawn is not None
    assert drawn.sde_indices == (1, 2, 3)
    assert sorted(drawn.states) == [1, 2, 3, 4], "latents between two steps are stored once"
    assert {state.shape for state in drawn.states.values()} == {(4, 16, 16)}
    assert drawn.log_probs.shape == (4, 3)
    assert drawn.sigmas.shape == (7,) and drawn.sigmas[0] == 1 and drawn.sigmas[-1] == 0
    for tensor in (*drawn.states.values(), drawn.log_probs, drawn.sigmas):
        assert tensor.dtype is torch.float32 and not tensor.is_inference()
    latents, *others = PackedTrajectories.of(drawn).buffers
    stored = (*drawn.states.values(), *drawn.means.values())
    assert latents.nbytes == sum(tensor.nbytes for tensor in stored), "they travel as one buffer"
    assert len(others) == 2, "sigmas and log-probs"


def test_means_are_stored_in_the_first_mini_batch_which_the_replay_gate_checks(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec]
) -> None:
    sampler = with_fresh_adapter(make_spec(batch={"num_minibatches": 2}), tiny_checkpoint)
    first, second = (sampler.generate(request(group=group)).trajectories for group in (0, 1))
    assert first is not None and means_of(first).shape == latents_of(first).shape
    assert second is not None and not second.means


def test_a_fragment_of_another_version_is_refused(sampler: Sampler) -> None:
    with pytest.raises(SyncError, match="wants policy version 1, but 0 is bound"):
        sampler.generate(request(version=1))


def test_nothing_is_generated_before_the_first_pull_or_after_a_failed_one(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec]
) -> None:
    sampler = load_sampler(make_spec(), tiny_checkpoint)
    with pytest.raises(SyncError, match="None is bound"):
        sampler.generate(request())
    adapter = pack(lora_parameters(sampler._model.transformer), 0)
    sampler.pull(adapter)
    assert sampler.policy_version == 0
    with pytest.raises(SyncError):
        sampler.pull(pack({"nothing.lora_A.weight": torch.zeros(1)}, 1))
    assert sampler.policy_version is None


def test_latents_that_are_not_finite_are_an_error_and_no_black_picture(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec]
) -> None:
    sampler = load_sampler(make_spec(), tiny_checkpoint)
    tensors = {
        name: torch.full_like(parameter, float("nan"))
        for name, parameter in lora_parameters(sampler._model.transformer).items()
    }
    sampler.pull(pack(tensors, 0))
    with pytest.raises(NonFiniteError, match="`latents` must be finite, got nan at prompt 'a red square', member 0"):
        sampler.generate(request(Purpose.EVALUATE))
