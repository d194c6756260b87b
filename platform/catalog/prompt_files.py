"""Reads prompts from an uploaded file: plain lines, JSON, JSON lines, or CSV with a `prompt` column. Pure.

The file's suffix decides the format; any other suffix means plain lines. Sizes are checked before parsing.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

MAX_UPLOAD_BYTES = 4 * 2**20
MAX_PROMPTS = 20_000
MAX_PROMPT_CHARS = 2000
COLUMN = "prompt"


class PromptsRefused(ValueError):
    """The file holds no usable prompts. The message names the line and what to do."""


def read_prompts(content: bytes, file_name: str) -> list[str]:
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
    return check_prompts(readers.get(suffix, _from_lines)(text))


def check_prompts(prompts: Sequence[str]) -> list[str]:
    """The prompts, stripped, empty ones left out. Raises `PromptsRefused` for none, too many, too long, repeated."""
    kept: dict[str, int] = {}
    for number, raw in enumerate(prompts, start=1):
        prompt = raw.strip()
        if not prompt:
            continue
        if len(prompt) > MAX_PROMPT_CHARS:
            raise PromptsRefused(
                f"prompt {number} must be ≤ {MAX_PROMPT_CHARS} characters, got {len(prompt)}: shorten it"
            )
        if "\x00" in prompt:
            raise PromptsRefused(f"prompt {number} holds a zero byte: is the file really text?")
        if prompt in kept:
            raise PromptsRefused(
                f"prompt {number} repeats prompt {kept[prompt]} (`{prompt[:60]}`): each group needs a prompt of its own"
            )
        kept[prompt] = number
    if not kept:
        raise PromptsRefused("there is no prompt in it: write one prompt a line")
    if len(kept) > MAX_PROMPTS:
        raise PromptsRefused(f"a prompt set must hold ≤ {MAX_PROMPTS} prompts, got {len(kept)}: split it")
    return list(kept)


def _from_lines(text: str) -> list[str]:
    return text.splitlines()


def _from_json(text: str) -> list[str]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise PromptsRefused(f"the file is not valid JSON: {error}") from error
    if isinstance(document, dict) and isinstance(document.get("prompts"), list):
        document = document["prompts"]
    if not isinstance(document, list):
        raise PromptsRefused(f"the JSON must be a list of prompts, got {type(document).__name__}")
    return [_one(item, f"item {number}") for number, item in enumerate(document, start=1)]


def _from_json_lines(text: str) -> list[str]:
    prompts = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                prompts.append(_one(json.loads(line), f"line {number}"))
            except json.JSONDecodeError as error:
                raise PromptsRefused(f"line {number} is not valid JSON: {error}") from error
    return prompts


def _one(item: Any, where: str) -> str:
    prompt = item.get(COLUMN) if isinstance(item, dict) else item
    if not isinstance(prompt, str):
        raise PromptsRefused(f"{where} must be a text or an object with `{COLUMN}`, got {type(prompt).__name__}")
    return prompt


def _from_csv(text: str) -> list[str]:
    """The `prompt` column; without such a header, the only column."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise PromptsRefused(f"the file is not valid CSV: {error}") from error
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if COLUMN in header:
        column = header.index(COLUMN)
        return [row[column] for row in rows[1:] if len(row) > column]
    if len(header) > 1:
        raise PromptsRefused(f"the CSV must have a column named `{COLUMN}`, got {', '.join(header)}")
    return [row[0] for row in rows]
