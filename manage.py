#!/usr/bin/env python3
"""Django's entry point. Puts the apps in `platform/` and the packages beside this file on the import path."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def main() -> None:
    # Second, not first: the folder of this file stays in front, and `platform/` itself must never be importable.
    sys.path.insert(1, str(ROOT / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
