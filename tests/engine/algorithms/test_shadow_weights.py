"""The moving average and DiffusionNFT's old policy: their values, who draws with them, what is exported."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.engine.stacked import latents_of
from tests.engine.stored_lora import read_lora
from tests.engine.training_setup import TrainingSetup
from worker.contracts.prompts import Prompt
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.packing import pack
from worker.engine.sync.shards import LoadedVersion
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GeneratedFragment, GenerationRequest
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NFT = {"name": "diffusion_nft", "old_decay_rate": 0.2, "old_decay_cap": 0.5}


def as_numpy(version: LoadedVersion) -> dict[str, np.ndarray]:
    return {name: tensor.double().numpy() for name, tensor in version.tensors.items()}


def live(trainer: TrainerRank) -> dict[str, np.ndarray]:
    return {name: parameter.detach().double().numpy().copy() for name, parameter in trainer._trainable.items()}


def test_the_average_is_updated_every_n_steps_and_exported(make_setup: SetupMaker, tmp_path: Path) -> None:
    setup = make_setup(ema={"decay": 0.8, "every_num_optimizer_steps": 2})
    trainer = setup.trainer()
    expected = live(trainer)
    for step in range(1, 6):
        setup.step(trainer)
        if step % 2 == 0:
            expected = {name: 0.8 * expected[name] + 0.2 * value for name, value in live(trainer).items()}
    average = trainer.version(5).evaluated
    assert average is not None
    for name, value in as_numpy(average).items():
        np.testing.assert_allclose(value, expected[name], atol=1e-6)
    trainer.export(str(tmp_path))
    assert read_lora(tmp_path, setup.spec.lora).sha256 == average.sha256
    assert average.sha256 != trainer.version(5).sha256


def test_without_an_average_nothing_more_is_published(make_setup: SetupMaker) -> None:
    assert make_setup().trainer().version(0).evaluated is None


def test_nfts_old_policy_is_published_and_updated_at_the_end_of_each_batch(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=NFT, batch={"num_epochs_per_batch": 2})
    trainer = setup.trainer()
    expected = live(trainer)
    for step in range(1, 7):
        setup.accumulate(trainer)
        trainer.commit()
        if step % 2 == 0:
            keep = min(0.2 * step, 0.5)
            expected = {name: keep * expected[name] + (1 - keep) * value for name, value in live(trainer).items()}
        published = trainer.version(step)
        for name, value in as_numpy(published).items():
            np.testing.assert_allclose(value, expected[name], atol=1e-6)
    assert published.evaluated is not None
    for name, value in as_numpy(published.evaluated).items():
        np.testing.assert_allclose(value, live(trainer)[name], atol=0)


def test_the_old_policy_predicts_with_what_is_published(make_setup: SetupMaker) -> None:
    setup = make_setup(algorithm=NFT)
    trainer = setup.trainer()
    for _ in range(3):
        setup.step(trainer)
    fresh = trainer_rank(setup.spec, setup.path)
    fresh.load_version(trainer.version(3))
    conditioning = fresh._model.conditioning(Prompt(text="a red square"), setup.spec.sampling, training=True)
    latents, sigmas = torch.randn(2, 16, 16, generator=torch.Generator().manual_seed(0)), torch.tensor([0.3, 0.8])
    assert trainer._behaviour is not None
    with torch.no_grad():
        predicted = trainer._behaviour.velocity(latents, sigmas, conditioning)
        assert torch.equal(predicted, fresh._model.predict_velocity(latents, sigmas, conditioning))


@pytest.mark.parametrize("purpose", [Purpose.EVALUATE, Purpose.REQUEST])
def test_evaluation_is_drawn_with_the_average_and_training_with_the_policy(
    make_setup: SetupMaker, purpose: Purpose
) -> None:
    setup = make_setup(ema={"decay": 0.9, "every_num_optimizer_steps": 1})
    trainer = setup.trainer()
    setup.step(trainer)
    version = trainer.version(1)
    assert version.evaluated is not None
    sampler, policy, average = (load_sampler(setup.spec, setup.path) for _ in range(3))
    sampler.pull(version)
    policy.pull(pack(version.tensors, 1))
    average.pull(version.evaluated)
    for asked, other in ((Purpose.TRAIN, policy), (purpose, average), (Purpose.TRAIN, policy), (purpose, average)):
        drawn, expected = generate(sampler, setup, asked), generate(other, setup, asked)
        assert (drawn.images == expected.images).all()
        if asked is Purpose.TRAIN:
            assert drawn.trajectories is not None and expected.trajectories is not None
            assert torch.equal(latents_of(drawn.trajectories), latents_of(expected.trajectories))


def generate(sampler: Sampler, setup: TrainingSetup, purpose: Purpose) -> GeneratedFragment:
    fragment = Fragment(FragmentKey(purpose, 0, 0, 0), (0, 1), 1)
    prompt = setup.spec.prompts.inline[0]
    return sampler.generate(GenerationRequest(fragment=fragment, prompt=prompt, run_seed=0, prompt_index=0))
