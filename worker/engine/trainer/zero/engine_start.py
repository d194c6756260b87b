"""Starts DeepSpeed's engine of one rank, once every rank has loaded."""

import deepspeed
import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.models.sharded_parameters import full_numel
from worker.engine.trainer.zero.deepspeed_config import build_optimizer, deepspeed_config
from worker.engine.trainer.zero.gradients import check_norm_before_step
from worker.engine.trainer.zero.process_group import wait_for_the_driver


def start_engine(
    spec: RunSpec, module: torch.nn.Module, trainable: list[torch.nn.Parameter]
) -> deepspeed.DeepSpeedEngine:
    """The engine that trains the parameters `trainable` of `module` as the spec says. A collective."""
    engine, *_ = deepspeed.initialize(
        model=module,
        model_parameters=trainable,
        optimizer=build_optimizer(spec, trainable),
        config=deepspeed_config(spec, sum(full_numel(parameter) for parameter in trainable)),
        dist_init_required=False,
    )
    wait_for_the_driver()
    check_norm_before_step(engine)
    # In stage 0 `commit` reduces the gradients, so that it can check their norm before the step.
    engine.enable_backward_allreduce = bool(spec.deepspeed.zero_stage)
    return engine
