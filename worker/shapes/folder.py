"""Where the committed shapes checkpoint and its judge lie. Apart, so that the judge loads without diffusers."""

from pathlib import Path

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "models" / "shapes"
