"""Two ranks train two experts: one may hold rows of the high-noise expert alone while the other holds the other's."""

from pathlib import Path

import pytest

from tests.engine.frozen import draw_groups, perturbed_adapter
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.one_expert_rank import STAGES
from tests.engine.models.proofs import run_spec_of
from tests.engine.ranks import run_ranks
from tests.engine.trainer.gradients_seen import GradientRecorder, relative_distance, whole_gradient
from tests.engine.trainer.one_rank_of_many import one_step
from worker.contracts.names import ModelFamily
from worker.engine.trainer.engine import TrainerEngine

pytestmark = pytest.mark.slow


def test_gradients_of_both_experts_equal_those_of_one_rank_in_every_stage(
    process_group: None, checkpoint_of: CheckpointOf, tmp_path: Path
) -> None:
    path = checkpoint_of(ModelFamily.WAN22)
    # A denoising step in each micro-batch; the third is of the low-noise expert. One rank trains on it while the other
    # trains on a step of the high-noise expert.
    spec = run_spec_of(
        ModelFamily.WAN22,
        sampling={"num_frames": 9},
        batch={"micro_batch_size": 2},
        optimizer={"max_grad_norm": 1e9},
    )
    adapter = perturbed_adapter(spec, path, seed=1)
    groups, num_pairs = draw_groups(spec, path, adapter), spec.algebra.num_pairs_per_optimizer_step
    task = {"spec": spec, "path": path, "adapter": adapter, "groups": groups, "num_pairs": num_pairs}
    trainer = TrainerEngine(spec, path, 0, 1)
    trainer.load_version(adapter)
    recorder = GradientRecorder(trainer)
    one_step(trainer, groups, num_pairs)
    seen = run_ranks("tests.engine.models.one_expert_rank", task, tmp_path)
    numels = [tensor.numel() for tensor in adapter.tensors.values()]
    for stage in STAGES:
        for whole in whole_gradient([rank[stage] for rank in seen], stage, numels):
            assert relative_distance(whole, recorder.last) < 1e-4, stage
