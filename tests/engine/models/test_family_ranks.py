"""Every model family on two ranks over gloo takes the step that one rank takes, in ZeRO 0, 2 and 3.

Families differ in what could break a reduction over ranks: LoRA tensors of Qwen-Image's and SD3's last blocks never get
a gradient, each of Wan2.2's ranks may have rows of one expert only, and prompts have different lengths.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from tests.engine.models.family_worker import Case
from tests.engine.rank_processes import run_rank_processes
from tests.engine.trainer.gradient_recorder import GradientRecorder, full_gradient, relative_distance
from tests.engine.training_setup import TrainingSetup
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import ModelFamily

pytestmark = pytest.mark.slow
CASES: list[Case] = [(family, stage, 0) for family in FAMILY_TRAITS for stage in (0, 2, 3)]
CASES += [(ModelFamily.WAN22, 1, 0), (ModelFamily.QWEN_IMAGE, 2, 1), (ModelFamily.QWEN_IMAGE, 3, 1)]
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(part) for part in case))


@pytest.fixture(scope="module")
def setup_of(process_group: None, checkpoint_of: CheckpointOf) -> Callable[[ModelFamily], TrainingSetup]:
    drawn: dict[ModelFamily, TrainingSetup] = {}

    def setup(family: ModelFamily) -> TrainingSetup:
        if family not in drawn:
            # A group has three micro-batches of one denoising step each: two for rank 0, one and one of padding for
            # rank 1. The third uses Wan2.2's low-noise expert, for which rank 0 has no rows.
            spec = run_spec_of(
                family,
                sampling={"num_frames": 9 if FAMILY_TRAITS[family].makes_clips else 1, "guidance_scale": 2.0},
                batch={"group_size": 3, "micro_batch_size": 3},
                optimizer={"max_grad_norm": 1e9, "learning_rate": 1e-3},
                algorithm={"kl_coefficient": 0.1},
            )
            drawn[family] = TrainingSetup.drawn(spec, checkpoint_of(family))
        return drawn[family]

    return setup


@pytest.fixture(scope="module")
def ranks_of(
    setup_of: Callable[[ModelFamily], TrainingSetup], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Case], list[dict[str, Any]]]:
    """What each rank returned for a case. The cases of a family share one start of the processes."""
    seen: dict[Case, list[dict[str, Any]]] = {}

    def ranks(case: Case) -> list[dict[str, Any]]:
        if case not in seen:
            cases = {other for other in CASES if other[0] is case[0]}
            task = {each: setup_of(each[0]) for each in sorted(cases)}
            found = run_rank_processes("tests.engine.models.family_worker", task, tmp_path_factory.mktemp("ranks"))
            seen.update({each: [rank[each] for rank in found] for each in cases})
        return seen[case]

    return ranks


@EACH_CASE
def test_two_ranks_take_the_steps_that_one_takes(
    ranks_of: Callable[[Case], list[dict[str, Any]]], setup_of: Callable[[ModelFamily], TrainingSetup], case: Case
) -> None:
    setup = setup_of(case[0])
    gradient, norm, published = one_rank(setup)
    numels = [tensor.numel() for tensor in setup.version.tensors.values()]
    ranks = ranks_of(case)
    for full in full_gradient([rank["gradient"] for rank in ranks], case[1], numels):
        assert relative_distance(full, gradient) < 1e-4
    for rank in ranks:
        assert rank["norm"] == pytest.approx(norm, rel=1e-4)
        for name, tensor in rank["published"].items():
            assert relative_distance(tensor, published[name]) < 1e-4, name
            assert torch.equal(tensor, ranks[0]["published"][name]), name


@pytest.mark.parametrize("stage", [0, 1])
def test_an_expert_without_rows_does_not_run_where_ranks_reduce_once_a_step(
    ranks_of: Callable[[Case], list[dict[str, Any]]], stage: int
) -> None:
    """Each micro-batch holds one denoising step, hence rows of one expert, and each time ranks need different ones."""
    apart, in_lockstep = (
        [rank["passes_of_first_step"] for rank in ranks_of((ModelFamily.WAN22, each, 0))] for each in (stage, 2)
    )
    assert 0 < sum(passes.total() for passes in apart) < sum(passes.total() for passes in in_lockstep)
    assert all(len(set(passes.values())) == 1 for passes in in_lockstep), "both experts run equally often"
    assert any(len(passes) == 1 for passes in apart), "rank 0 has no rows of low noise"


def one_rank(setup: TrainingSetup) -> tuple[torch.Tensor, float, dict[str, torch.Tensor]]:
    """Gradient and norm of the first step on one rank in ZeRO 0, and the weights it publishes after the second."""
    trainer = setup.trainer()
    recorder = GradientRecorder(trainer)
    setup.accumulate(trainer)
    norm = trainer.commit()["grad_norm"]
    gradient = recorder.last
    setup.accumulate(trainer, fresh=False)
    trainer.commit()
    return gradient, norm, trainer.version(2).tensors
