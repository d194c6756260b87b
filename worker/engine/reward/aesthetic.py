"""`aesthetic`: LAION's aesthetic predictor v2, a linear head on the CLIP ViT-L/14 embedding of the picture.

rating = head(e / |e|), about 1 to 10 (github.com/christophschuhmann/improved-aesthetic-predictor). The checkpoint holds
a CLIP vision model with projection and, under `layers`, the head.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import AestheticSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.networks import load_network, load_picture_processor
from worker.engine.reward.picture_batches import PictureBatches
from worker.engine.reward.rating_head import rating_head
from worker.engine.reward.scored_run import ScoredRun


class AestheticNetwork(CLIPVisionModelWithProjection):
    """CLIP's vision tower with the rating head."""

    def __init__(self, config: CLIPVisionConfig) -> None:
        super().__init__(config)
        self.layers = rating_head(config.projection_dim)
        self.post_init()

    def rate(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Ratings (N,) of preprocessed pictures (N, 3, H, W)."""
        embeddings = self(pixel_values=pixel_values).image_embeds.float()
        ratings: torch.Tensor = self.layers(embeddings / embeddings.norm(dim=-1, keepdim=True))
        return ratings[:, 0]


class Aesthetic:
    """The reward. Prompts are ignored."""

    name = RewardName.AESTHETIC.value

    def __init__(self, settings: AestheticSettings, run: ScoredRun | None = None) -> None:
        """`run` is for the figures of its plan."""
        self._network = load_network(
            AestheticNetwork, settings.weights, self.name, settings.dtype, head="layers", run=run
        )
        processor = load_picture_processor(settings.weights, self.name)
        self._batches = PictureBatches(processor, settings.pictures_per_call, reward=self.name, run=run)

    @torch.inference_mode()
    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)
        ratings = self._batches.scores(images, self._network, lambda _, pictures: self._network.rate(pictures))
        return RewardResult.from_array(ratings)
