"""Tokenizers and frozen random text encoders of the shapes checkpoint.

A random transformer already gives every caption its own embedding, which is all that the image model needs to
learn from; nothing here is trained. The vocabulary is one token per known word, so captions never split
(the order of `VOCABULARY` matters: the merges of an earlier word win).
"""

import torch
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer, T5Config, T5EncoderModel, T5Tokenizer

from worker.shapes.captions import COLOURS, SHAPES

VOCABULARY: tuple[str, ...] = (*SHAPES, *sorted(COLOURS, key=len, reverse=True), "picture", "photo", "of", "a")

CLIP_NUM_TOKENS = 16
T5_NUM_TOKENS = 6
"""`max_sequence_length` the model is trained with; sampling must pass the same, padding is not masked in FLUX."""

EMBEDDING_DIM = 32

_START, _END = "<|startoftext|>", "<|endoftext|>"


def build_clip_tokenizer() -> CLIPTokenizer:
    """A byte-pair tokenizer whose merges glue each known word into one token."""
    vocab: dict[str, int] = {_START: 0, _END: 1}
    merges: list[tuple[str, str]] = []
    for word in VOCABULARY:
        pieces = [*word[:-1], word[-1] + "</w>"]
        for piece in pieces:
            vocab.setdefault(piece, len(vocab))
        left = pieces[0]
        for right in pieces[1:]:
            if (left, right) not in merges:
                merges.append((left, right))
            left += right
            vocab.setdefault(left, len(vocab))
    return CLIPTokenizer(vocab=vocab, merges=merges, model_max_length=CLIP_NUM_TOKENS)


def build_t5_tokenizer() -> T5Tokenizer:
    """A unigram tokenizer with one piece per known word; anything else becomes `<unk>`."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((f"▁{word}", -1.0) for word in VOCABULARY)]
    return T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=T5_NUM_TOKENS)


def build_clip_encoder(tokenizer: CLIPTokenizer) -> CLIPTextModel:
    """A random two-layer CLIP text model; its pooled output tells all captions apart."""
    config = CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=EMBEDDING_DIM,
        intermediate_size=2 * EMBEDDING_DIM,
        projection_dim=EMBEDDING_DIM,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=CLIP_NUM_TOKENS,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    encoder = CLIPTextModel(config)
    _randomise(encoder)
    return encoder


def build_t5_encoder(tokenizer: T5Tokenizer, *, dim: int = EMBEDDING_DIM) -> T5EncoderModel:
    """A random two-layer T5 encoder."""
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=dim,
        d_kv=dim // 2,
        d_ff=2 * dim,
        num_layers=2,
        num_heads=2,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    encoder = T5EncoderModel(config)
    _randomise(encoder)
    return encoder


def _randomise(encoder: torch.nn.Module) -> None:
    """Spread the captions apart: the libraries' initial scales leave almost equal embeddings."""
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if parameter.ndim < 2:
                continue
            is_table = "embed" in name or "shared" in name
            scale = 1.0 if is_table else 1.5 / parameter.shape[1] ** 0.5
            parameter.normal_(0.0, scale)
    encoder.requires_grad_(False)
    encoder.eval()
