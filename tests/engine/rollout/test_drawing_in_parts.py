"""A lane whose device has not enough memory draws and decodes the same trajectories in smaller calls."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.rollout.test_sampler import request, with_fresh_adapter
from tests.engine.small_device import MESSAGE, no_memory_for
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import DeviceMemoryError
from worker.engine.rollout.sampler import Sampler
from worker.engine.shortage_notes import take_shortages
from worker.engine.types import GeneratedFragment
from worker.scheduling.core.messages import Purpose

REQUESTS = [request(group=0), request(group=1, prompt="a blue circle")]


@pytest.fixture
def sampler(tiny_checkpoint: str, make_spec: Callable[..., RunSpec]) -> Sampler:
    take_shortages()
    return with_fresh_adapter(make_spec(), tiny_checkpoint)


def assert_alike(found: GeneratedFragment, expected: GeneratedFragment) -> None:
    assert found.fragment == expected.fragment and found.seeds == expected.seeds
    assert found.trajectories is not None and expected.trajectories is not None
    for name in ("states", "means"):
        ours, theirs = getattr(found.trajectories, name), getattr(expected.trajectories, name)
        assert ours.keys() == theirs.keys()
        assert all(torch.allclose(ours[step], theirs[step], atol=1e-5) for step in ours)
    assert torch.allclose(found.trajectories.log_probs, expected.trajectories.log_probs, atol=1e-5)
    assert np.abs(found.images.astype(int) - expected.images.astype(int)).max() <= 1


def test_fragments_are_drawn_apart_and_then_in_parts_until_they_fit(sampler: Sampler) -> None:
    expected = sampler.generate_all(REQUESTS)
    with no_memory_for(sampler._model.transformer, more_than=1) as rows:
        found = sampler.generate_all(REQUESTS)
    for ours, theirs in zip(found, expected, strict=True):
        assert_alike(ours, theirs)
    assert rows[:3] == [8, 4, 2] and set(rows[3:]) == {1}
    told = [shortage.sentence for shortage in take_shortages()]
    assert told == [
        f"had no memory to generate {what} in one pass (it asked for 2.5 GiB more): in calls of {size} from now on."
        for what, size in (("2 fragments", 1), ("4 trajectories", 2), ("2 trajectories", 1))
    ]


def test_the_size_that_fits_is_kept_and_not_tried_again(sampler: Sampler) -> None:
    with no_memory_for(sampler._model.transformer, more_than=2) as rows:
        sampler.generate(REQUESTS[0])
        rows.clear()
        sampler.generate(request(Purpose.EVALUATE))
    assert set(rows) == {2} and len(take_shortages()) == 1


def test_latents_are_decoded_in_smaller_calls(sampler: Sampler) -> None:
    expected = sampler.generate(REQUESTS[0])
    with no_memory_for(sampler._model._pipeline.vae.decoder, more_than=1) as rows:
        assert_alike(sampler.generate(REQUESTS[0]), expected)
    assert rows == [4, 2, 1, 1, 1, 1]
    assert [shortage.work for shortage in take_shortages()] == [f"decode {n} samples in one pass" for n in (4, 2)]


def test_what_does_not_fit_at_all_fails_with_what_to_change(sampler: Sampler) -> None:
    with (
        no_memory_for(sampler._model.transformer, more_than=0),
        pytest.raises(DeviceMemoryError, match=r"by 2\.5 GiB when .* generate 1 traj.*: lower `batch.fragment_size`"),
    ):
        sampler.generate(REQUESTS[0])


def test_a_deterministic_run_keeps_the_size_of_its_calls(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec]
) -> None:
    sampler = with_fresh_adapter(make_spec(pipeline={"deterministic": True}), tiny_checkpoint)
    try:
        with (
            no_memory_for(sampler._model.transformer, more_than=2),
            pytest.raises(DeviceMemoryError, match=r"\(a deterministic run keeps the size of its calls\): lower"),
        ):
            sampler.generate(REQUESTS[0])
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_version_that_cannot_be_taken_in_fails_with_what_to_change(
    sampler: Sampler, make_spec: Callable[..., RunSpec], tiny_checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError(MESSAGE)

    version = perturbed_version(make_spec(), tiny_checkpoint, seed=1)
    monkeypatch.setattr("worker.engine.rollout.sampler.bind", full)
    with pytest.raises(DeviceMemoryError, match=rf"take in policy version {version.policy_version}: lower `batch.frag"):
        sampler.pull(version)


def test_a_lane_that_cannot_hold_what_it_loads_says_what_to_change(
    tiny_checkpoint: str, make_spec: Callable[..., RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError(MESSAGE)

    monkeypatch.setattr("worker.engine.rollout.sampler.load_generation_model", full)
    wanted = r"by 2\.5 GiB when it was to load the model: set `base_model.dtype: bf16`"
    with pytest.raises(DeviceMemoryError, match=wanted):
        Sampler.load(make_spec(), tiny_checkpoint)
