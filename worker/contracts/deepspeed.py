"""The `deepspeed` section of a `RunSpec`: a named configuration, changes to it, and switches that save memory.

The configurations are the JSON files of these names under `worker/engine/trainer/zero/configurations`. Invariant: what
follows from other sections (batch sizes, accumulation, clipping, precision) and from the name (stage, offload) cannot
be overridden.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from worker.contracts.base import Contract
from worker.contracts.names import ExplainedName
from worker.contracts.spec_bounds import MAX_TRANSFORMER_BLOCKS


class ZeroConfig(ExplainedName):
    """Named DeepSpeed configurations: the JSON files of these names."""

    ZERO0 = "zero0", "Everything on every trainer lane: the fastest where it fits."
    ZERO1 = "zero1", "Optimizer state sharded over the trainer lanes."
    ZERO1_CPUOFFLOAD = "zero1_cpuoffload", "As zero1, with the optimizer state in host memory."
    ZERO2 = "zero2", "Optimizer state and gradients sharded over the trainer lanes."
    ZERO2_CPUOFFLOAD = "zero2_cpuoffload", "As zero2, with the optimizer state in host memory."
    ZERO3 = "zero3", "Optimizer state, gradients and the model's weights sharded over the trainer lanes."
    ZERO3_OPTIMIZER_CPUOFFLOAD = "zero3_optimizer_cpuoffload", "As zero3, with the optimizer state in host memory."
    ZERO3_CPUOFFLOAD = "zero3_cpuoffload", "As zero3, with optimizer state and weights in host memory: slowest."

    @property
    def stage(self) -> Literal[0, 1, 2, 3]:
        """ZeRO stage: what is sharded over the ranks (0 nothing, 1 optimizer state, 2 gradients too, 3 weights too)."""
        stages: dict[str, Literal[0, 1, 2, 3]] = {"zero0": 0, "zero1": 1, "zero2": 2, "zero3": 3}
        return stages[self.value.partition("_")[0]]

    @property
    def offloads_optimizer(self) -> bool:
        """Whether the optimizer state lies in host memory."""
        return self.value.endswith("cpuoffload")

    @property
    def offloads_weights(self) -> bool:
        """Whether the model's weights lie in host memory."""
        return self is ZeroConfig.ZERO3_CPUOFFLOAD


Override = bool | int

_ZERO = "zero_optimization."
OVERRIDABLE: Mapping[str, type[Override]] = {
    f"{_ZERO}overlap_comm": bool,
    f"{_ZERO}contiguous_gradients": bool,
    f"{_ZERO}reduce_scatter": bool,
    f"{_ZERO}round_robin_gradients": bool,
    f"{_ZERO}reduce_bucket_size": int,
    f"{_ZERO}allgather_bucket_size": int,
    f"{_ZERO}sub_group_size": int,
    f"{_ZERO}stage3_prefetch_bucket_size": int,
    f"{_ZERO}stage3_param_persistence_threshold": int,
    f"{_ZERO}stage3_max_live_parameters": int,
    f"{_ZERO}stage3_max_reuse_distance": int,
    f"{_ZERO}memory_efficient_linear": bool,
    f"{_ZERO}offload_optimizer.pin_memory": bool,
    f"{_ZERO}offload_param.pin_memory": bool,
    "wall_clock_breakdown": bool,
}
"""The settings of a named configuration that may be overridden, by dotted path, with their type. Integers are ≥ 0."""

_DERIVED: Mapping[str, str] = {
    "train_batch_size": "`batch`",
    "train_micro_batch_size_per_gpu": "`batch.micro_batch_size`",
    "gradient_accumulation_steps": "`batch`",
    "managed_gradient_accumulation": "`batch`",
    "gradient_clipping": "`optimizer.max_grad_norm`",
    "optimizer": "`optimizer`",
    "scheduler": "`optimizer.learning_rate`",
    "bf16": "`base_model.dtype`",
    "fp16": "`base_model.dtype`",
    "zero_optimization.stage": "`deepspeed.config`",
    "zero_optimization.offload_optimizer.device": "`deepspeed.config`",
    "zero_optimization.offload_param.device": "`deepspeed.config`",
    "activation_checkpointing": "`deepspeed.gradient_checkpointing`",
}
"""By dotted path: the settings that Tandem sets itself, and the field of the spec that each follows from."""


MAX_OVERRIDE_CHARS = 120
"""Twice the longest path with the largest value."""
MAX_OVERRIDE = 2**53 - 1
"""Of a whole number: DeepSpeed counts bytes and elements, and so many are no machine's."""


class DeepSpeedSpec(Contract):
    """How the trainer lanes share and save memory: DeepSpeed's ZeRO, offloading and recomputation."""

    config: ZeroConfig = ZeroConfig.ZERO0
    """Named DeepSpeed configuration: what is sharded over the trainer lanes, and what lies in host memory. Results are
    the same but for rounding; each step further saves memory and costs time. `zero0` or `zero1` is usual for LoRA,
    `zero2` or `zero3` for all weights; the plan beside the form says what fits."""
    overrides: Annotated[
        tuple[Annotated[str, Field(max_length=MAX_OVERRIDE_CHARS)], ...], Field(max_length=len(OVERRIDABLE))
    ] = ()
    """Changes to the configuration, one `path=value` a line, such as `zero_optimization.reduce_bucket_size=50000000`.
    Usually empty. Smaller buckets save memory, larger ones use the network better; DeepSpeed's own documentation
    explains each setting."""
    gradient_checkpointing: Annotated[int, Field(ge=0, le=MAX_TRANSFORMER_BLOCKS)] | None = None
    """Which transformer blocks are recomputed in the backward pass instead of keeping their activations: 0 none, 1 all,
    n every n-th. Empty: as few as each trainer lane's memory demands by the plan, which is usual. All costs about a
    third more training time than none; set it where the plan turns out wrong."""
    offload_idle_states: bool = False
    """Move optimizer state and accumulated gradients to host memory while a trainer lane generates, and back before it
    trains. Turn it on when generation runs out of memory on colocated or lent trainer lanes; each switch of role then
    takes longer, by the bytes moved."""
    initialize_model_on_cpu: bool = False
    """Shard the weights in host memory while the model is loaded, and only then move each shard to its device (ZeRO 3
    alone). Turn it on when loading a large model runs out of device memory; it loads more slowly."""

    @property
    def zero_stage(self) -> Literal[0, 1, 2, 3]:
        """ZeRO's stage in `config`."""
        return self.config.stage

    @property
    def overriding(self) -> dict[str, Override]:
        """The values of `overrides`, by dotted path."""
        return {path: json.loads(value) for path, _, value in (line.partition("=") for line in self.overrides)}

    @field_validator("overrides", mode="before")
    @classmethod
    def _mapping_to_lines(cls, given: Any) -> Any:
        """The lines of a mapping, nested or by dotted path, which YAML specs may hold instead of lines."""
        return tuple(f"{path}={json.dumps(value)}" for path, value in _flat(given)) if _is_mapping(given) else given

    @model_validator(mode="after")
    def _overrides_are_allowed(self) -> Self:
        paths = [line.partition("=")[0] for line in self.overrides]
        for path in paths:
            if paths.count(path) > 1:
                raise ValueError(f"`deepspeed.overrides` must name each path once, got `{path}` again")
        for line in self.overrides:
            _check_override(line, self.config)
        return self


def _check_override(line: str, config: ZeroConfig) -> None:
    path, is_given, value = line.partition("=")
    for derived, source in _DERIVED.items():
        if path == derived or path.startswith(f"{derived}."):
            raise ValueError(f"`deepspeed.overrides` must not set `{path}`, got {line!r}: it follows from {source}")
    if path not in OVERRIDABLE:
        raise ValueError(f"`deepspeed.overrides` must name one of {', '.join(OVERRIDABLE)}, got {path!r}")
    wanted = OVERRIDABLE[path]
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not is_given or type(found) is not wanted or (wanted is int and not 0 <= found <= MAX_OVERRIDE):
        kind = "true or false" if wanted is bool else f"a whole number ≥ 0 and ≤ {MAX_OVERRIDE}"
        raise ValueError(f"`deepspeed.overrides` must give `{path}` as {path}={kind}, got {line!r}")
    for part, is_there in (
        ("offload_optimizer", config.offloads_optimizer),
        ("offload_param", config.offloads_weights),
        ("stage3_", config.stage == 3),
        ("memory_efficient_linear", config.stage == 3),
        ("sub_group_size", config.stage == 3),
    ):
        if path.startswith(f"{_ZERO}{part}") and not is_there:
            raise ValueError(
                f"`deepspeed.overrides` must fit `deepspeed.config` ({config.value}), got `{path}`: "
                "that configuration has no such setting"
            )


def _is_mapping(given: Any) -> bool:
    return isinstance(given, Mapping)


def _flat(given: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in given.items():
        path = f"{prefix}{name}"
        found += _flat(value, f"{path}.") if isinstance(value, Mapping) else [(path, value)]
    return found
