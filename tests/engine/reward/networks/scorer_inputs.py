"""Tokenizers and picture processors of the scorers' classes, made here; nothing is downloaded."""

from pathlib import Path

from transformers import BertTokenizer, CLIPTokenizer
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def save_processor(folder: Path, side: int) -> None:
    """Write CLIP's processor for pictures of `side` pixels into `folder`."""
    CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size={"height": side, "width": side}).save_pretrained(
        folder
    )


def clip_tokenizer() -> CLIPTokenizer:
    """Letters, and one merged word."""
    tokens = [
        "<|startoftext|>",
        "<|endoftext|>",
        *LETTERS,
        *(f"{letter}</w>" for letter in LETTERS),
        "r e",
        "re",
        "red</w>",
    ]
    return CLIPTokenizer({token: index for index, token in enumerate(tokens)}, [("r", "e"), ("re", "d</w>")])


def bert_tokenizer() -> BertTokenizer:
    """A dozen words."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "red", "blue", "circle", "square", "view", "of"]
    return BertTokenizer({word: index for index, word in enumerate(words)})
