"""`image_reward`: ImageReward (Xu et al., arXiv 2304.05977): BLIP's text encoder with cross-attention to the picture.

score = (head(text state at [CLS]) − 0.16717362830052426) / 1.0333394966054072, about −2 to 2, with constants, head and
prompts padded to 35 tokens as in github.com/THUDM/ImageReward. The checkpoint is transformers' BLIP for retrieval with
the head as `mlp.layers`; `convert_image_reward` makes one from the published file.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import BlipConfig, BlipForImageTextRetrieval

from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import ImageRewardSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.networks import load_network, load_picture_processor, load_tokenizer
from worker.engine.reward.picture_batches import PictureBatches
from worker.engine.reward.rating_head import rating_head
from worker.engine.reward.scored_run import ScoredRun

MAX_TOKENS = 35
"""The number of tokens of a prompt, as in the reference code."""
_MEAN, _STD = 0.16717362830052426, 1.0333394966054072
"""Mean and standard deviation of the ratings, as in the reference code."""


class RatingHead(nn.Module):
    """The rating head under the name of the published checkpoint: `mlp.layers.*`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = rating_head(width)


class ImageRewardNetwork(BlipForImageTextRetrieval):
    """BLIP with the rating head in place of its retrieval heads."""

    def __init__(self, config: BlipConfig) -> None:
        super().__init__(config)
        # The retrieval heads are not part of ImageReward, so its checkpoint lacks them.
        del self.vision_proj, self.text_proj, self.itm_head
        self.mlp = RatingHead(config.text_config.hidden_size)
        self.post_init()

    def rate(self, pixel_values: torch.Tensor, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Scores (N,) of preprocessed pictures (N, 3, H, W) for token ids and mask, both (N, MAX_TOKENS)."""
        image_states = self.vision_model(pixel_values=pixel_values).last_hidden_state
        text_states = self.text_encoder(
            input_ids=input_ids,
            attention_mask=attention_mask,
            encoder_hidden_states=image_states,
            encoder_attention_mask=torch.ones(image_states.shape[:-1], dtype=torch.long, device=image_states.device),
        ).last_hidden_state
        ratings: torch.Tensor = self.mlp.layers(text_states[:, 0].float())
        return (ratings[:, 0] - _MEAN) / _STD


class ImageReward:
    """The reward."""

    name = RewardName.IMAGE_REWARD.value

    def __init__(self, settings: ImageRewardSettings, run: ScoredRun | None = None) -> None:
        """`run` is for the figures of its plan."""
        self._network = load_network(
            ImageRewardNetwork, settings.weights, self.name, settings.dtype, head="mlp", run=run
        )
        self._tokenizer = load_tokenizer(settings.weights, self.name)
        processor = load_picture_processor(settings.weights, self.name)
        self._batches = PictureBatches(processor, settings.pictures_per_call, reward=self.name, run=run)

    @torch.inference_mode()
    def score(self, images: NDArray[np.uint8], prompts: Sequence[Prompt]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` as `check_batch`."""
        check_batch(images, prompts)

        def rate(rows: slice, pictures: torch.Tensor) -> torch.Tensor:
            texts = self._tokenizer(
                [prompt.text for prompt in prompts[rows]],
                padding="max_length",
                truncation=True,
                max_length=MAX_TOKENS,
                return_tensors="pt",
            ).to(self._network.device)
            return self._network.rate(pictures, texts["input_ids"], texts["attention_mask"])

        return RewardResult.from_array(self._batches.scores(images, self._network, rate))
