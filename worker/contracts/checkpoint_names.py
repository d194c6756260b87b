"""The names of a run's checkpoints: the web names an attempt's folder, the driver the checkpoints in it.

```text
attempt-<number>/batch-<complete batches>            a complete checkpoint
attempt-<number>/batch-<complete batches>.replaced   its predecessor, where a crash came while it was being replaced
attempt-<number>/batch-<complete batches>.held       an empty file: the driver never removes that checkpoint
```
"""

import re

REPLACED = ".replaced"
"""The ending of the name of a checkpoint that is being replaced by one of the same batch."""
HELD = ".held"
"""The ending of the name of the file that holds a checkpoint from being removed, because a run was forked from it."""
_ATTEMPT = re.compile(r"attempt-(\d+)")
_CHECKPOINT = re.compile(rf"batch-(\d+)(?:{re.escape(REPLACED)})?")


def attempt_name(number: int) -> str:
    return f"attempt-{number}"


def checkpoint_name(batch: int) -> str:
    """The name of the checkpoint after `batch` complete batches."""
    return f"batch-{batch:06d}"


def attempt_number(name: str) -> int | None:
    """The number in an attempt's name; `None` for any other name."""
    found = _ATTEMPT.fullmatch(name)
    return None if found is None else int(found[1])


def batch_number(name: str) -> int | None:
    """The number of complete batches in a checkpoint's name, replaced or not; `None` for any other name."""
    found = _CHECKPOINT.fullmatch(name)
    return None if found is None else int(found[1])
