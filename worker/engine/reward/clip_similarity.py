"""The cosine similarity of a picture and a text by CLIP, which CLIPScore, PickScore and HPSv2 share.

Pictures are preprocessed by the checkpoint's own processor (resized by the shorter side, then centre-cropped), or
letterboxed to a square, as the network was trained. Texts are truncated to the network's maximum length (77 tokens for
CLIP).
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import CLIPModel

from worker.contracts.rewards import WeightsSettings
from worker.engine.errors import ModelLoadError
from worker.engine.reward.networks import load_network, load_picture_processor, load_tokenizer
from worker.engine.reward.picture_batches import PictureBatches
from worker.engine.reward.scored_run import ScoredRun

_LEGACY_EOS_TOKEN_ID = 2
"""The wrong `eos_token_id` of older CLIP configurations, with which transformers takes the highest token id of a text
as its end, which is right for CLIP's vocabulary."""


class ClipSimilarity:
    """A CLIP network with its tokenizer and picture processor."""

    def __init__(
        self,
        settings: WeightsSettings,
        processor: str,
        reward: str,
        *,
        run: ScoredRun | None = None,
        letterboxes: bool = False,
    ) -> None:
        """
        Args:
            settings: the network's.
            processor: folder or hub id of tokenizer and picture processor.
            reward: name of the reward, for errors.
            run: for the figures of its plan.
            letterboxes: letterbox pictures to a square instead of centre-cropping them.

        Raises:
            ModelLoadError: when one of them cannot be loaded, or the network's texts end with another token than the
                tokenizer's.
        """
        self._network = load_network(CLIPModel, settings.weights, reward, settings.dtype, run=run)
        self._tokenizer = load_tokenizer(processor, reward)
        end = self._network.config.text_config.eos_token_id
        if end not in (_LEGACY_EOS_TOKEN_ID, self._tokenizer.eos_token_id):
            raise ModelLoadError(
                f"tokenizer and weights of reward `{reward}` must have the same `eos_token_id`, got "
                f"{self._tokenizer.eos_token_id} and {end}: otherwise every prompt has the same embedding"
            )
        side = self._network.config.vision_config.image_size
        before = partial(letterboxed, side=side) if letterboxes else None
        picture_processor = load_picture_processor(processor, reward)
        self._batches = PictureBatches(
            picture_processor, settings.pictures_per_call, reward=reward, run=run, before=before
        )

    @property
    def scale(self) -> float:
        """The learned temperature of the network: exp(logit_scale)."""
        return float(self._network.logit_scale.exp())

    @torch.inference_mode()
    def cosines(self, images: NDArray[np.uint8], texts: Sequence[str]) -> NDArray[np.float64]:
        """The cosine (N,) of each picture (N, H, W, 3) and its own text (N)."""

        def passed(rows: slice, pictures: torch.Tensor) -> torch.Tensor:
            picture_embeds = _normalised(self._network.get_image_features(pixel_values=pictures).pooler_output)
            return (picture_embeds * self._embed_texts(texts[rows])).sum(dim=1)

        return self._batches.scores(images, self._network, passed)

    def _embed_texts(self, texts: Sequence[str]) -> torch.Tensor:
        # The samples of a fragment share one prompt, so each different text is embedded once.
        unique = sorted(set(texts))
        length = self._network.config.text_config.max_position_embeddings
        inputs = self._tokenizer(unique, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
        inputs = inputs.to(self._network.device)
        features = self._network.get_text_features(inputs["input_ids"], inputs["attention_mask"]).pooler_output
        return _normalised(features)[[unique.index(text) for text in texts]]


def _normalised(features: torch.Tensor) -> torch.Tensor:
    """Features (N, D) scaled to length 1, in fp32."""
    features = features.float()
    return features / features.norm(dim=-1, keepdim=True)


def letterboxed(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A picture (H, W, 3) as a square (side, side, 3): resized bicubically by its longer side, with black bars of equal
    width on both sides; where their width is odd, the last line of pixels is added at the right or the bottom."""
    height, width = image.shape[:2]
    scale = side / max(height, width)
    new_height, new_width = round(height * scale), round(width * scale)
    fitted = Image.fromarray(image).resize((new_width, new_height), Image.Resampling.BICUBIC)
    square = np.zeros((side, side, 3), dtype=np.uint8)
    top, left = (side - new_height) // 2, (side - new_width) // 2
    square[top : top + new_height, left : left + new_width] = np.asarray(fitted)
    return square
