"""The release of Tandem that this code is, as `pyproject.toml` names it: written into the record of every run."""

VERSION = "0.1.0"
