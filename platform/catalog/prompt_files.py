"""Reads prompts from an uploaded file: plain lines, JSON, JSON lines, or CSV with a `prompt` column. Pure.

The file's suffix decides the format; any other suffix means plain lines. Sizes are checked before parsing. In objects
and CSV rows, `prompt` or `text` is the text, `negative`, `pictures`, `metadata` and `id` are what they are called, and
every other field becomes metadata, so that benchmark files (GenEval's, for one) can be uploaded as they are.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from worker.contracts.error_sentences import error_sentences
from worker.contracts.prompts import Prompt
from worker.contracts.shown_values import shown

MAX_UPLOAD_BYTES = 24 * 2**20
"""A request's body may have 32 MiB, and the same prompts take more in JSON than as lines."""
MAX_PROMPTS = 100_000
"""Reading so many lines of 70 characters takes 3 s of one core, about as long as a request may."""
TEXT_FIELDS = ("prompt", "text")
"""What a prompt's text may be called, the first one found counts."""
_OWN_FIELDS = ("negative", "pictures", "metadata", "id")

Item = tuple[str, Any]
"""Where in the file an item stands, and what it is: a text or an object."""


class PromptsRefused(ValueError):
    """The file holds no usable prompts. The message names the line and what to do."""


def read_prompts(content: bytes, file_name: str) -> list[Prompt]:
    """The prompts in the file's order, stripped. Raises `PromptsRefused`."""
    if len(content) > MAX_UPLOAD_BYTES:
        raise PromptsRefused(
            f"`{file_name}` must be ≤ {MAX_UPLOAD_BYTES // 2**20} MiB, got {len(content) / 2**20:.1f} MiB: split it"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptsRefused(f"`{file_name}` must be UTF-8 text: byte {error.start} is not") from error
    suffix = file_name.lower().rpartition(".")[2]
    readers = {"json": _from_json, "jsonl": _from_json_lines, "csv": _from_csv}
    return _checked(readers.get(suffix, _from_lines)(text))


def check_prompts(prompts: Sequence[Any]) -> list[Prompt]:
    """Texts and objects as prompts, stripped, empty ones left out.

    Raises `PromptsRefused` for none, too many, repeated, or one that is no prompt.
    """
    return _checked((f"prompt {number}", item) for number, item in enumerate(prompts, start=1))


def _checked(items: Iterable[Item]) -> list[Prompt]:
    listed = list(items)
    # Before any is read, so that a file that is too large costs nothing.
    if len(listed) > MAX_PROMPTS:
        raise PromptsRefused(f"a prompt set must hold ≤ {MAX_PROMPTS} prompts, got {len(listed)}: split it")
    kept: dict[str, tuple[str, Prompt]] = {}
    repeats: list[str] = []
    for where, item in listed:
        prompt = _prompt(item, where)
        if prompt is None:
            continue
        if prompt.id in kept:
            repeats.append(f"{where} repeats {kept[prompt.id][0]} (`{prompt.text[:60]}`)")
        else:
            kept[prompt.id] = where, prompt
    if repeats:
        others = f", and {len(repeats) - 1} more repeat others" if len(repeats) > 1 else ""
        raise PromptsRefused(f"{repeats[0]}{others}: remove them, each group needs a prompt of its own")
    if not kept:
        raise PromptsRefused("there is no prompt in it: write one prompt a line")
    return [prompt for _, prompt in kept.values()]


def _prompt(item: Any, where: str) -> Prompt | None:
    """`None` for an empty text. Raises `PromptsRefused`."""
    fields = _fields(item, where) if isinstance(item, Mapping) else {"text": item}
    if not isinstance(fields["text"], str):
        raise PromptsRefused(
            f"{where} must be a text or an object with `prompt` or `text`, got {shown(fields['text'])}"
        )
    fields["text"] = fields["text"].strip()
    if not fields["text"]:
        return None
    try:
        return Prompt.model_validate(fields)
    except ValidationError as error:
        (sentence, *_), *_ = error_sentences(error).values()
        raise PromptsRefused(f"{where}: {sentence}") from error


def _fields(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a `Prompt`; those of the object that it does not know become metadata."""
    name = next((name for name in TEXT_FIELDS if name in item), None)
    if name is None:
        raise PromptsRefused(f"{where} must be a text or an object with `prompt` or `text`, got {sorted(item)[:8]}")
    fields = {"text": item[name], **{own: item[own] for own in _OWN_FIELDS if item.get(own) not in (None, "")}}
    others = {key: value for key, value in item.items() if key not in (name, *_OWN_FIELDS)}
    if others:
        given = fields.get("metadata", {})
        fields["metadata"] = {**others, **given} if isinstance(given, Mapping) else given
    return fields


def _from_lines(text: str) -> Iterable[Item]:
    return ((f"line {number}", line) for number, line in enumerate(text.splitlines(), start=1))


def _from_json(text: str) -> Iterable[Item]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise PromptsRefused(f"the file is not valid JSON: {error}") from error
    if isinstance(document, dict) and isinstance(document.get("prompts"), list):
        document = document["prompts"]
    if not isinstance(document, list):
        raise PromptsRefused(f"the JSON must be a list of prompts, got {shown(document)}")
    return ((f"item {number}", item) for number, item in enumerate(document, start=1))


def _from_json_lines(text: str) -> Iterable[Item]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except json.JSONDecodeError as error:
                raise PromptsRefused(f"line {number} is not valid JSON: {error}") from error


def _from_csv(text: str) -> Iterable[Item]:
    """Rows as objects by the header's names; without a header with a text column, the only column."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise PromptsRefused(f"the file is not valid CSV: {error}") from error
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    numbered = list(enumerate(rows, start=1))
    if set(TEXT_FIELDS) & set(header):
        return ((f"row {number}", dict(zip(header, row, strict=False))) for number, row in numbered[1:])
    if len(header) > 1:
        raise PromptsRefused(f"the CSV must have a column named `prompt`, got {', '.join(header)}")
    return ((f"row {number}", row[0]) for number, row in numbered)
