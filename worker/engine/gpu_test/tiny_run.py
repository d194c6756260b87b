"""A tiny run of the engine, with the classes of real ones: pictures, rewards, advantages, one optimizer step."""

import math
from pathlib import Path

from worker.contracts.metric_names import Metric
from worker.contracts.names import ModelFamily
from worker.contracts.run_spec import RunSpec
from worker.engine.errors import ModelLoadError
from worker.engine.gpu_test.outcomes import StepFailedError, StepSkippedError
from worker.engine.local import LocalRun
from worker.engine.models.registry import check_drawable
from worker.engine.trainer.zero.process_group import destroy_process_group, free_port, init_process_group


def check_engine(base_model_path: str, family: ModelFamily | None) -> str:
    """Train on one batch of a base model; returns the losses of its optimizer step.

    Raises:
        StepSkippedError: there is no such model here, or it is not usable.
        StepFailedError: a metric is not finite.
        EngineError: as `LocalRun.train_batch`, for a replay that does not give what sampling gave, or a loss that is
            not finite.
    """
    if not base_model_path or family is None:
        raise StepSkippedError("there is no small base model below TANDEM_MODEL_ROOTS")
    if not Path(base_model_path).is_dir():
        raise StepSkippedError(f"this node does not reach the base model {base_model_path}")
    spec = tiny_spec(family)
    init_process_group(0, 1, "127.0.0.1", free_port())
    try:
        check_drawable(spec.base_model, spec.sampling, base_model_path)
        result = LocalRun(spec, base_model_path).train_batch()
    except ModelLoadError as error:
        raise StepSkippedError(f"the base model cannot be used: {error}") from error
    finally:
        destroy_process_group()
    if strange := sorted(name for name, value in result.metrics.items() if not math.isfinite(value)):
        raise StepFailedError(f"after one optimizer step these are not finite: {', '.join(strange)}")
    loss, norm = result.metrics[Metric.LOSS], result.metrics[Metric.GRAD_NORM]
    return f"{spec.algebra.num_trajectories} pictures and one optimizer step: loss {loss:.3g}, gradient norm {norm:.3g}"


def tiny_spec(family: ModelFamily) -> RunSpec:
    """Two groups of four pictures of 32 × 32, scored from their pixels, for one optimizer step in fp32."""
    return RunSpec.model_validate(
        {
            "base_model": {"path": "gpu-test", "family": family, "dtype": "fp32"},
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "colorfulness"}],
            "lora": {"rank": 4, "alpha": 8.0},
            "sampling": {"num_denoising_steps": 4, "height": 32, "width": 32},
            "batch": {"num_prompts_per_batch": 2, "group_size": 4, "micro_batch_size": 6},
            "num_batches": 1,
        }
    )
