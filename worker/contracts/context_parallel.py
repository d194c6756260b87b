"""Over how many GPUs a model's predictions can be spread, known from its configs before any weights are read.

Ulysses divides the tokens of a sample over the GPUs of a lane, and the attention heads while they attend: their number
must divide both. To train, it must divide the tokens of every prompt as well, unless prompts are left whole: diffusers
has no backward pass of attention over parts of unlike lengths. Prompts of unlike lengths are padded for it where the
model can be told which tokens are padding. Form, planner and lane ask here, so that they refuse the same with the same
words.
"""

from dataclasses import dataclass

from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.performance import (
    MASKED_PROMPTS,
    SPREADABLE_WITH_MASKS,
    WHOLE_PROMPTS,
    AttentionBackend,
    ContextParallel,
    PerformanceSpec,
)
from worker.contracts.run_spec import RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedShape:
    """What is divided of one prediction."""

    num_heads: int
    """The transformer's attention heads."""
    num_tokens: int
    """Tokens of one sample, without the prompt's."""
    height: int
    """Pixels of the sample."""
    width: int
    """Pixels of the sample."""
    num_frames: int

    def divides(self, num_gpus: int) -> bool:
        """Whether predictions can be spread over so many GPUs; one GPU computes them whole."""
        return self.num_heads % num_gpus == self.num_tokens % num_gpus == 0

    def problem(self, num_gpus: int, asked: ContextParallel = ContextParallel.ULYSSES) -> str | None:
        """Why a lane of so many GPUs cannot spread the predictions, as a sentence for the user; `None` where it can.

        Args:
            num_gpus: of the rollout lane.
            asked: `performance.context_parallel`, as the user gave it.
        """
        setting = f"`performance.context_parallel` must be off for a lane of {num_gpus} GPUs, got {asked}"
        if self.num_tokens % num_gpus:
            return (
                f"{setting}: {num_gpus} does not divide the {self.num_tokens} tokens of a sample of "
                f"{self.height} × {self.width} pixels and {self.num_frames} frames; turn it off, or take a "
                f"`sampling.width` whose number of tokens in a row is a multiple of {num_gpus}"
            )
        if self.num_heads % num_gpus:
            fitting = ", ".join(str(number) for number in range(1, self.num_heads + 1) if self.num_heads % number == 0)
            return (
                f"{setting}: {num_gpus} does not divide the {self.num_heads} attention heads of the model; turn it "
                f"off, so that the lane computes on its first GPU, or have a pool admin set `gpus_per_lane` of the "
                f"node to one of {fitting}"
            )
        return None


def training_problem(spec: RunSpec, num_gpus: int) -> str | None:
    """Why lanes of so many GPUs cannot train what the spec says, as a sentence for the user; `None` where they can, if
    the GPUs divide the sample (`DividedShape.problem`)."""
    if num_gpus == 1:
        return None
    refused = f"trainer lanes of this run must have 1 GPU, got {num_gpus}"
    advice = "have a pool admin set `gpus_per_lane` of enough nodes to 1, or choose another pool"
    if spec.kernels.context_parallel is not ContextParallel.ULYSSES:
        return f"{refused}: its passes are not spread over GPUs (`performance.context_parallel`), {advice}"
    family, sampling = spec.base_model.family, spec.sampling
    if family in WHOLE_PROMPTS:
        return None
    if family in MASKED_PROMPTS:
        attention = spec.kernels.attention
        if attention in SPREADABLE_WITH_MASKS:
            return None
        return (
            f"{refused}: prompts of {family} are padded for several to divide, and `performance.attention` {attention} "
            f"takes no mask there; take one of {', '.join(sorted(SPREADABLE_WITH_MASKS))}, or {advice}"
        )
    num_tokens = sampling.max_sequence_length or FAMILY_TRAITS[family].sequence_length.default
    if num_tokens % num_gpus:
        return (
            f"`sampling.max_sequence_length` must be a multiple of the {num_gpus} GPUs of a trainer lane, got "
            f"{num_tokens}: choose a multiple, or {advice}"
        )
    return None


def training_kernels(spec: RunSpec, num_gpus: int) -> PerformanceSpec:
    """The kernels of a trainer lane of so many GPUs: `RunSpec.kernels`, but that `auto` leaves attention to PyTorch
    where prompts are padded, since what is fastest on some cards takes no mask there."""
    kernels = spec.kernels
    if num_gpus == 1 or spec.base_model.family not in MASKED_PROMPTS or kernels.attention is not AttentionBackend.AUTO:
        return kernels
    return kernels.model_copy(update={"attention": AttentionBackend.DEFAULT})
