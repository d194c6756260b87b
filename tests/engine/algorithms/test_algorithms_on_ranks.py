"""Algorithms that do not train on stored transitions, on two ranks over gloo: they train what one rank trains, in every
ZeRO stage, with uneven shares and padding, through aborts, checkpoints and failures."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from tests.engine.algorithms.algorithm_worker import Case, step
from tests.engine.algorithms.conftest import SetupMaker
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.gradient_recorder import GradientRecorder, full_gradient, relative_distance
from tests.engine.training_setup import TrainingSetup

WORLD_SIZE = 2
# A group has 3 micro-batches: 2 for rank 0, 1 and one of padding for rank 1.
BATCH = {"group_size": 3, "micro_batch_size": 3}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "diffusion_nft": {"num_noise_levels": 3, "kl_coefficient": 0.2, "beta": 0.5, "old_decay_rate": 0.1},
    "diffusion_dpo": {"num_noise_levels": 3, "beta": 5.0},
    "refl": {"num_late_steps": 2, "kl_coefficient": 0.1},
    "reward_flow": {"num_gradient_steps": 2, "kl_coefficient": 0.3, "reward_scale": 0.5},
}
pytestmark = pytest.mark.slow
CASES = [(name, stage) for name in ALGORITHMS for stage in range(4)]
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
Ranks = list[dict[str, Any]]
"""The observations of each rank in one case."""


@pytest.fixture(scope="module")
def setup_of(make_setup: SetupMaker) -> Callable[[str], TrainingSetup]:
    def setup(name: str) -> TrainingSetup:
        micro_batch_size = 1 if name in ("refl", "reward_flow") else BATCH["micro_batch_size"]
        return make_setup(
            algorithm={"name": name, **ALGORITHMS[name]},
            rewards=[{"name": "shape_match"}],
            batch={**BATCH, "micro_batch_size": micro_batch_size},
            optimizer={"max_grad_norm": 1e9},
            ema={"decay": 0.5, "every_num_optimizer_steps": 2},
            pipeline={"deterministic": True},
        )

    return setup


@pytest.fixture(scope="module")
def ranks_of(
    setup_of: Callable[[str], TrainingSetup], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Case], Ranks]:
    """The observations of the ranks in a case. The cases of an algorithm share one start of the processes."""
    seen: dict[Case, Ranks] = {}

    def ranks(case: Case) -> Ranks:
        if case not in seen:
            cases = {other for other in CASES if other[0] == case[0]}
            task = {each: setup_of(each[0]) for each in sorted(cases)}
            folder = tmp_path_factory.mktemp("ranks")
            found = run_rank_processes("tests.engine.algorithms.algorithm_worker", task, folder)
            seen.update({each: [rank[each] for rank in found] for each in cases})
        return seen[case]

    return ranks


@pytest.fixture(scope="module")
def one_rank_of(
    setup_of: Callable[[str], TrainingSetup],
) -> Callable[[str], tuple[torch.Tensor, float, dict[str, Any]]]:
    """Gradient and norm of the first step on one rank in ZeRO 0, and the weights it publishes after the third."""
    seen: dict[str, tuple[torch.Tensor, float, dict[str, Any]]] = {}

    def one_rank(name: str) -> tuple[torch.Tensor, float, dict[str, Any]]:
        if name not in seen:
            setup = setup_of(name)
            trainer = setup.trainer()
            recorder = GradientRecorder(trainer)
            norm = step(setup, trainer, together=True)
            gradient = recorder.last
            for _ in range(2):
                step(setup, trainer, together=True)
            seen[name] = gradient, norm, trainer.version(3).tensors
        return seen[name]

    return one_rank


@EACH_CASE
def test_two_ranks_train_what_one_trains(
    ranks_of: Callable[[Case], Ranks],
    one_rank_of: Callable[[str], tuple[torch.Tensor, float, dict[str, Any]]],
    setup_of: Callable[[str], TrainingSetup],
    case: Case,
) -> None:
    gradient, norm, published = one_rank_of(case[0])
    numels = [tensor.numel() for tensor in setup_of(case[0]).version.tensors.values()]
    ranks = ranks_of(case)
    assert norm > 0.01
    for full in full_gradient([rank["gradient"] for rank in ranks], case[1], numels):
        assert relative_distance(full, gradient) < 1e-5
    for rank in ranks:
        assert rank["norm"] == pytest.approx(norm, rel=1e-5)
        assert list(rank["published"]) == list(published)
        for name, tensor in rank["published"].items():
            assert relative_distance(tensor, published[name]) < 1e-4, name


@EACH_CASE
def test_ranks_agree_to_the_bit_and_so_does_the_same_run_again(ranks_of: Callable[[Case], Ranks], case: Case) -> None:
    """The second trainer of each rank repeated the first step, and took the others from the first trainer's checkpoint,
    without the mini-batch that the first one aborted."""
    first, second = ranks_of(case)
    for moment in ("after_one", "after_three"):
        assert len({*first[moment], *second[moment]}) == 1, moment
    assert first["after_one"] != first["after_three"]


@EACH_CASE
def test_a_checkpoint_holds_trainable_and_shadow_weights_alone(
    ranks_of: Callable[[Case], Ranks], setup_of: Callable[[str], TrainingSetup], case: Case
) -> None:
    num_trained = sum(tensor.numel() for tensor in setup_of(case[0]).version.tensors.values())
    folder = Path(ranks_of(case)[0]["uri"].removeprefix("file://"))
    num_kept: Counter[str] = Counter()
    for file in folder.rglob("*.safetensors"):
        with safe_open(file, framework="pt") as stored:
            for key in stored.keys():  # noqa: SIM118 - safetensors files are no mappings
                quantity, _, name = key.partition("/")
                assert "lora_" in name
                num_kept[quantity] += stored.get_tensor(key).numel()
    num_shadow_copies = 2 if case[0] == "diffusion_nft" else 1
    # The weights, two moments and the shadow weights, each once over all ranks.
    assert len(num_kept) == 3 + num_shadow_copies
    assert set(num_kept.values()) == {num_trained}


@EACH_CASE
def test_a_value_that_is_not_finite_on_one_rank_fails_and_changes_nothing(
    ranks_of: Callable[[Case], Ranks], case: Case
) -> None:
    first, second = ranks_of(case)
    for rank in (first, second):
        assert rank["gradient_error"].startswith("`gradient` must be finite"), "no rank takes the step"
        assert rank["is_unchanged"]
    assert first["loss_error"] == "", "the other rank trains the pair"
    assert second["loss_error"].startswith("`loss` must be finite, got nan at group 1, member ")
