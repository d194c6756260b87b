"""A trainer rank recomputes what the spec says, or what the planner predicts for its device."""

from fractions import Fraction
from typing import Any

import pytest
import torch
from deepspeed.accelerator import get_accelerator

from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.zero.recomputed_share import LARGE, recomputed_share
from worker.scheduling.planning.memory import MemoryRole, lane_memory, recomputing_on
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.described_cards import card_name
from worker.scheduling.profiles.hardware import GB
from worker.scheduling.profiles.known_devices import accelerator

CUDA, CPU = torch.device("cuda"), torch.device("cpu")


def spec(path: str = "black-forest-labs/FLUX.1-dev", **sections: Any) -> RunSpec:
    document: dict[str, Any] = {
        "base_model": {"path": path, "dtype": "bf16"},
        "prompts": {"inline": ["a cat"]},
        "rewards": [{"name": "colorfulness"}],
        "sampling": {"height": 512, "width": 512},
        "batch": {"num_prompts_per_batch": 1, "micro_batch_size": 2},
        **sections,
    }
    return RunSpec.model_validate(document)


def share(request: RunSpec, device: torch.device = CUDA, *, num_parameters: int = 12_000_000_000) -> Fraction:
    return recomputed_share(request, device, num_parameters=num_parameters, num_lanes=1)


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch) -> float:
    """A card of 40 GB, on which FLUX.1 trains only if it recomputes something."""
    monkeypatch.setattr(get_accelerator(), "total_memory", lambda _=None: 40 * GB, raising=False)
    return 40 * GB


def test_a_rank_recomputes_what_the_planner_predicts_for_its_memory(card: float) -> None:
    device = accelerator(card_name(card, None))
    work = recomputing_on(Workload.of(spec()), device, MemoryRole.TRAINER, num_ranks=1)
    assert lane_memory(work, device, MemoryRole.TRAINER).fits(device)
    assert share(spec()) == Fraction(work.num_recomputed_layers, 57)
    assert 0 < share(spec()) < 1


def test_a_lane_that_generates_too_recomputes_no_less() -> None:
    assert share(spec(pipeline={"placement": "colocated"}, lanes={"num_rollout": 0})) >= share(spec())


@pytest.mark.parametrize(("every", "expected"), [(0, Fraction(0)), (1, Fraction(1)), (3, Fraction(1, 3))])
def test_what_the_spec_says_is_taken(every: int, expected: Fraction) -> None:
    assert share(spec(deepspeed={"gradient_checkpointing": every})) == expected


def test_of_a_model_without_a_profile_size_alone_decides() -> None:
    unknown = spec("somebody/unheard-of")
    assert share(unknown, num_parameters=int(LARGE)) == 1
    assert share(unknown, num_parameters=int(LARGE) - 1) == 0


def test_the_shapes_recompute_nothing_on_a_core() -> None:
    tiny = {"height": 32, "width": 32}
    assert share(spec("shapes", sampling=tiny), CPU, num_parameters=2_000_000) == 0
