"""`python -m worker.tiny_models [family …]`: checkpoints below `TANDEM_VAR`/tiny-models, all families by default."""

import os
import sys
from pathlib import Path

from worker.tiny_models.registry import TINY_PIPELINES, build_tiny_checkpoint


def main(names: list[str]) -> int:
    unknown = set(names) - {family.value for family in TINY_PIPELINES}
    if unknown:
        print(
            f"no such family: {', '.join(sorted(unknown))}; choose among {', '.join(TINY_PIPELINES)}", file=sys.stderr
        )
        return 2
    folder = Path(os.environ.get("TANDEM_VAR", "var")) / "tiny-models"
    for family in TINY_PIPELINES:
        if names and family not in names:
            continue
        path = build_tiny_checkpoint(family, folder)
        num_bytes = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"{path}  {num_bytes / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
