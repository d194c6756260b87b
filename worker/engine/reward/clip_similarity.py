"""CLIP as scorers use it: how alike are a picture and a text? Shared by CLIPScore, PickScore and HPSv2.

Pictures go through the checkpoint's own processor (shorter side fitted, square cut from the middle), or whole with
black bars, as the network was trained; texts are cut at the tokenizer's length (77 for CLIP). Both embeddings are
scaled to length 1, so the similarity is a cosine.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import CLIPModel

from worker.engine.errors import ModelLoadError
from worker.engine.reward.networks import load_network, load_picture_processor, load_tokenizer

_LEGACY_EOS_TOKEN_ID = 2
"""As a checkpoint's `eos_token_id` an old mistake, by which transformers takes a text's highest token as its end."""


class ClipSimilarity:
    def __init__(
        self, weights: str, processor: str, pictures_per_call: int, reward: str, *, letterboxes: bool = False
    ) -> None:
        """`processor` is where tokenizer and picture processor lie. Raises `ModelLoadError`."""
        self._network = load_network(CLIPModel, weights, reward)
        self._tokenizer = load_tokenizer(processor, reward)
        end = self._network.config.text_config.eos_token_id
        if end not in (_LEGACY_EOS_TOKEN_ID, self._tokenizer.eos_token_id):
            raise ModelLoadError(
                f"tokenizer and weights of reward `{reward}` must agree about the token that ends a text, got "
                f"{self._tokenizer.eos_token_id} and {end}: with another one every prompt would be judged alike"
            )
        self._pictures = load_picture_processor(processor, reward)
        self._pictures_per_call = pictures_per_call
        self._letterboxes = letterboxes

    @property
    def scale(self) -> float:
        """The learnt temperature: exp(logit_scale)."""
        return float(self._network.logit_scale.exp())

    @torch.inference_mode()
    def cosines(self, images: NDArray[np.uint8], texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of each picture (N, H, W, 3) with its own text (N), as (N,)."""
        found = [np.zeros(0)]
        for start in range(0, len(images), self._pictures_per_call):
            part = slice(start, start + self._pictures_per_call)
            pictures, words = self._embed_pictures(images[part]), self._embed_texts(texts[part])
            found.append((pictures * words).sum(dim=1).double().cpu().numpy())
        return np.concatenate(found)

    def _embed_pictures(self, images: NDArray[np.uint8]) -> torch.Tensor:
        shown = list(images)
        if self._letterboxes:
            side = self._network.config.vision_config.image_size
            shown = [letterboxed(image, side) for image in images]
        inputs = self._pictures(images=shown, return_tensors="pt").to(self._network.device)
        return _unit(self._network.get_image_features(**inputs).pooler_output)

    def _embed_texts(self, texts: Sequence[str]) -> torch.Tensor:
        # A fragment shares one prompt: each text is embedded once.
        known = sorted(set(texts))
        length = self._network.config.text_config.max_position_embeddings
        inputs = self._tokenizer(known, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
        inputs = inputs.to(self._network.device)
        features = self._network.get_text_features(inputs["input_ids"], inputs["attention_mask"]).pooler_output
        return _unit(features)[[known.index(text) for text in texts]]


def _unit(features: torch.Tensor) -> torch.Tensor:
    return features / features.norm(dim=-1, keepdim=True)


def letterboxed(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """A whole picture (H, W, 3) for a network that sees squares, as (side, side, 3): its longer side bicubically to
    `side`, black bars of equal width beside it, the odd line of pixels at the right or the bottom."""
    height, width = image.shape[:2]
    scale = side / max(height, width)
    new_height, new_width = round(height * scale), round(width * scale)
    fitted = Image.fromarray(image).resize((new_width, new_height), Image.Resampling.BICUBIC)
    square = np.zeros((side, side, 3), dtype=np.uint8)
    top, left = (side - new_height) // 2, (side - new_width) // 2
    square[top : top + new_height, left : left + new_width] = np.asarray(fitted)
    return square
