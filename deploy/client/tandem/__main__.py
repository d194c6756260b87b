"""`python -m tandem`."""

from tandem.cli.main import app

app()
