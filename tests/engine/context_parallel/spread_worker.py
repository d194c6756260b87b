"""A rank process of `test_spreading`: the same predictions and trajectories alone and spread over the ranks.

Rank 0 is the lane's own process and returns what it computed; the others follow.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.utils import counters

from tests.engine.fixed_trajectories import perturbed_version
from tests.engine.models.family_checks import noise_for, run_spec_of
from tests.engine.sharing_embeddings import load_sampler
from worker.contracts.names import ModelFamily
from worker.contracts.performance import Compilation
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.context_parallel.calls import SpreadCalls, follow_calls
from worker.engine.context_parallel.spreading import lane_mesh, spread
from worker.engine.models.base import ModelAdapter
from worker.engine.models.pipeline_loading import Part
from worker.engine.rollout.generation_model import load_generation_model
from worker.engine.rollout.sampler import Sampler
from worker.engine.sync.binding import bind
from worker.engine.types import GenerationRequest, PublishedVersion, PullReceipt
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

SIGMAS = (0.9, 0.3)
"""One for each of Wan2.2's experts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is predicted."""

    family: ModelFamily
    path: str
    prompt: str = "a red square"
    batched_cfg: bool = False
    compilation: Compilation = Compilation.OFF
    num_frames: int = 9
    """Of a clip."""

    @property
    def spec(self) -> RunSpec:
        is_clip = self.family in (ModelFamily.WAN, ModelFamily.WAN22)
        is_embedded = self.family in (ModelFamily.FLUX, ModelFamily.FLUX2)
        return run_spec_of(
            self.family,
            sampling={
                "num_frames": self.num_frames if is_clip else 1,
                "guidance_scale": 2.0,
                "batched_cfg": self.batched_cfg and not is_embedded,
            },
            performance={"compilation": self.compilation},
        )


class GroupFollowers:
    """The followers of a group whose processes the test has started."""

    def __init__(self, size: int) -> None:
        self.size = size

    def join(self, model: ModelAdapter) -> None:
        spread(model.transformer, lane_mesh(model.device, self.size))
        self._calls = SpreadCalls(model.transformer, self.size)

    def bind(
        self, own: Callable[[], PullReceipt], version: PublishedVersion, *, evaluated: bool = False
    ) -> PullReceipt:
        return own()

    @contextmanager
    def following(self) -> Iterator[None]:
        self._calls.begin()
        try:
            yield
        finally:
            self._calls.end()


def sampler_of(case: Case, followers: GroupFollowers | None = None) -> Sampler:
    sampler = load_sampler(case.spec, case.path, "cpu", followers=followers)
    sampler.pull(perturbed_version(case.spec, case.path, seed=2, policy_version=1))
    return sampler


def velocity(model: ModelAdapter, case: Case) -> torch.Tensor:
    sampling = case.spec.sampling
    conditioning = model.conditioning(Prompt(text=case.prompt), sampling)
    with torch.inference_mode():
        return model.predict_velocity(noise_for(model, sampling), torch.tensor(SIGMAS), conditioning)


def fragment(case: Case, sampler: Sampler) -> dict[str, Any]:
    """A trained fragment's trajectories and pictures."""
    key = FragmentKey(Purpose.TRAIN, 0, 0, 0)
    request = GenerationRequest(
        fragment=Fragment(key, (0, 1), 1), prompt=Prompt(text=case.prompt), run_seed=3, prompt_index=0
    )
    made = sampler.generate(request)
    assert made.trajectories is not None
    kept = made.trajectories
    return {"images": made.images, "states": dict(kept.states), "means": dict(kept.means), "log_probs": kept.log_probs}


def lead(case: Case, world_size: int) -> dict[str, Any]:
    torch._dynamo.reset()
    counters.clear()
    alone = sampler_of(replace(case, compilation=Compilation.OFF))
    followers = GroupFollowers(world_size)
    together = sampler_of(case, followers)
    seen = list[int]()
    for module in together._model.transformer.modules():
        if type(module).__name__.endswith("TransformerBlock"):
            module.register_forward_pre_hook(
                lambda _, args, kwargs: seen.append(_hidden_states(args, kwargs).shape[1]), with_kwargs=True
            )
    with followers.following():
        predicted = velocity(together._model, case)
    return {
        "alone": velocity(alone._model, case),
        "together": predicted,
        # Some plans divide the tokens inside the first block.
        "num_tokens_of_block": seen[1],
        "fragment_alone": fragment(case, alone),
        "fragment_together": fragment(case, together),
        "num_graphs": int(counters["stats"]["unique_graphs"]),
        "graph_breaks": dict(counters["graph_break"]),
    }


def _hidden_states(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    tensor: torch.Tensor = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
    return tensor


def follow(case: Case, world_size: int) -> list[int]:
    """The numbers of passes in the two times that rank 0 leads."""
    model = load_generation_model(case.spec, case.path, "cpu", parts=frozenset({Part.TRANSFORMER}))
    bind(model.trainable, perturbed_version(case.spec, case.path, seed=2, policy_version=1))
    spread(model.transformer, lane_mesh(model.device, world_size))
    return [follow_calls(model.transformer, model.device) for _ in range(2)]


def run(cases: Sequence[Case], rank: int, world_size: int, folder: Path) -> list[Any]:
    act = follow if rank else lead
    return [act(case, world_size) for case in cases]
