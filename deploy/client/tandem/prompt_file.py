"""Files of prompts."""

import json
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.text_files import read_text


def read_prompts(path: Path) -> list[Any]:
    """One prompt a line, without empty lines; in a `.jsonl` file each line is a prompt's JSON.

    Raises:
        TandemError: a line of a `.jsonl` file is no JSON.
    """
    lines = [(number, line) for number, line in enumerate(read_text(path).splitlines(), start=1) if line.strip()]
    if path.suffix != ".jsonl":
        return [line.strip() for _, line in lines]
    found = []
    for number, line in lines:
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise TandemError(f"{path.name}, line {number}: not JSON ({error})") from error
    return found
