"""Whether a model can draw what a run asks for, answered by its configs alone: a lane asks before it reads weights."""

from worker.contracts.sections import BaseModelSpec, SamplingSpec
from worker.engine.models import guidance
from worker.engine.models.experts import experts_of
from worker.engine.models.registry import load_model


def check_drawable(spec: BaseModelSpec, sampling: SamplingSpec, base_model_path: str) -> None:
    """Raises `ModelLoadError` for a size, length or guidance that the checkpoint cannot follow."""
    model = load_model(spec, base_model_path, parts=frozenset())
    model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    num_experts = len(experts_of(model.transformer))
    for scale, scale_2 in (
        (sampling.guidance_scale, sampling.guidance_scale_2),
        (sampling.training_guidance, sampling.training_guidance_2),
    ):
        guidance.check_scale(model.guidance, scale)
        guidance.check_second_scale(num_experts, scale_2)
