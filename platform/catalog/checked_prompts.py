"""Checks the prompts of an upload, which are texts and objects. Pure.

Files are read by whoever sends them: the page reads plain lines, JSON, JSON lines and CSV, and asks which column is the
prompt. In objects, `prompt` or `text` is the text, `negative`, `pictures`, `metadata` and `id` are what they are
called, and every other field becomes metadata, so that records of benchmarks (GenEval's) can be sent as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from worker.contracts.error_sentences import error_sentences
from worker.contracts.prompts import Prompt
from worker.contracts.shown_values import shown

MAX_PROMPTS = 100_000
"""A request with so many texts of 70 characters takes 1.1 s of one core, one with as many objects that have metadata
as GenEval's 4.0 s (24 November 2026), about as long as a request may."""
TEXT_FIELDS = ("prompt", "text")
"""What a prompt's text may be called, the first one found counts."""
_OWN_FIELDS = ("negative", "pictures", "metadata", "id")


class PromptsRefused(ValueError):
    """There are no usable prompts. The message names the prompt and what to do."""


def check_prompts(prompts: Sequence[Any]) -> list[Prompt]:
    """Texts and objects as prompts, stripped, empty ones left out.

    Raises `PromptsRefused` for none, too many, repeated, or one that is no prompt.
    """
    # Before any is read, so that a list that is too long costs nothing.
    if len(prompts) > MAX_PROMPTS:
        raise PromptsRefused(f"a prompt set must hold ≤ {MAX_PROMPTS} prompts, got {len(prompts)}: split it")
    kept: list[Prompt] = []
    first: dict[str, int] = {}
    repeats: list[str] = []
    for number, item in enumerate(prompts, start=1):
        prompt = _prompt(item, number)
        if prompt is None:
            continue
        if prompt.id in first:
            repeats.append(f"prompt {number} repeats prompt {first[prompt.id]} (`{prompt.text[:60]}`)")
        else:
            kept.append(prompt)
            first[prompt.id] = number
    if repeats:
        others = f", and {len(repeats) - 1} more repeat others" if len(repeats) > 1 else ""
        raise PromptsRefused(f"{repeats[0]}{others}: remove them, each group needs a prompt of its own")
    if not kept:
        raise PromptsRefused("there is no prompt in it: send at least one text")
    return kept


def _prompt(item: Any, number: int) -> Prompt | None:
    """`None` for an empty text. Raises `PromptsRefused`."""
    fields = _fields(item, number) if isinstance(item, Mapping) else {"text": item}
    if not isinstance(fields["text"], str):
        raise PromptsRefused(
            f"prompt {number} must be a text or an object with `prompt` or `text`, got {shown(fields['text'])}"
        )
    fields["text"] = fields["text"].strip()
    if not fields["text"]:
        return None
    try:
        return Prompt.model_validate(fields)
    except ValidationError as error:
        (sentence, *_), *_ = error_sentences(error).values()
        raise PromptsRefused(f"prompt {number}: {sentence}") from error


def _fields(item: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The fields of a `Prompt`; those of the object that it does not know become metadata."""
    name = next((name for name in TEXT_FIELDS if name in item), None)
    if name is None:
        raise PromptsRefused(
            f"prompt {number} must be a text or an object with `prompt` or `text`, got {sorted(item)[:8]}"
        )
    fields = {"text": item[name], **{own: item[own] for own in _OWN_FIELDS if item.get(own) not in (None, "")}}
    others = {key: value for key, value in item.items() if key not in (name, *_OWN_FIELDS)}
    if others:
        given = fields.get("metadata", {})
        fields["metadata"] = {**others, **given} if isinstance(given, Mapping) else given
    return fields
