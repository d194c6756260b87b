"""`image_reward`: ImageReward (Xu et al., arXiv 2304.05977): BLIP reads the prompt while looking at the picture.

score = (head(text state at [CLS]) − 0.16717362830052426) / 1.0333394966054072, constants and head as in
github.com/THUDM/ImageReward; about −2 to 2. The prompt is padded to 35 tokens there, so it is here. The checkpoint is
transformers' BLIP for retrieval with the head as `mlp.layers`; `convert_image_reward` makes one of the published file.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import BlipConfig, BlipForImageTextRetrieval

from worker.contracts.names import RewardName
from worker.contracts.rewards import ImageRewardSettings
from worker.engine.reward.base import RewardResult, check_batch
from worker.engine.reward.networks import load_network, load_picture_processor, load_tokenizer
from worker.engine.reward.rating_head import rating_head

MAX_TOKENS = 35
_MEAN, _STD = 0.16717362830052426, 1.0333394966054072


class RatingHead(nn.Module):
    """Named as in the published checkpoint: `mlp.layers.*`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = rating_head(width)


class ImageRewardNetwork(BlipForImageTextRetrieval):
    def __init__(self, config: BlipConfig) -> None:
        super().__init__(config)
        # Retrieval's own heads are not part of ImageReward, and would be missing from its checkpoint.
        del self.vision_proj, self.text_proj, self.itm_head
        self.mlp = RatingHead(config.text_config.hidden_size)
        self.post_init()

    def rate(self, pixel_values: torch.Tensor, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Scores (N,) of processed pictures (N, 3, H, W) for token ids and mask, both (N, MAX_TOKENS)."""
        seen = self.vision_model(pixel_values=pixel_values).last_hidden_state
        read = self.text_encoder(
            input_ids=input_ids,
            attention_mask=attention_mask,
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:-1], dtype=torch.long, device=seen.device),
        ).last_hidden_state
        ratings: torch.Tensor = self.mlp.layers(read[:, 0])
        return (ratings[:, 0] - _MEAN) / _STD


class ImageReward:
    name = RewardName.IMAGE_REWARD.value

    def __init__(self, settings: ImageRewardSettings) -> None:
        self._network = load_network(ImageRewardNetwork, settings.weights, self.name)
        self._tokenizer = load_tokenizer(settings.weights, self.name)
        self._pictures = load_picture_processor(settings.weights, self.name)
        self._pictures_per_call = settings.pictures_per_call

    @torch.inference_mode()
    def score(self, images: NDArray[np.uint8], prompts: Sequence[str]) -> RewardResult:
        """Score uint8 images (N, H, W, 3) of any size. Raises `ValueError` on arrays that are no pictures."""
        check_batch(images, prompts)
        scores = [np.zeros(0)]
        for start in range(0, len(images), self._pictures_per_call):
            part = slice(start, start + self._pictures_per_call)
            pictures = self._pictures(images=list(images[part]), return_tensors="pt").to(self._network.device)
            words = self._tokenizer(
                list(prompts[part]), padding="max_length", truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
            ).to(self._network.device)
            rated = self._network.rate(pictures["pixel_values"], words["input_ids"], words["attention_mask"])
            scores.append(rated.double().cpu().numpy())
        return RewardResult.from_array(np.concatenate(scores))
