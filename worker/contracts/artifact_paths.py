"""Names of artifacts: paths below a run, as they are uploaded and as events tell of them."""

from typing import Annotated

from pydantic import StringConstraints

SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}"
"""Of a path: nothing that leads elsewhere, is hidden, must be quoted, or is longer than the 255 bytes that file systems
take."""
PATH_PATTERN = rf"^{SEGMENT}(/{SEGMENT})*$"
MAX_PATH_CHARS = 300

ArtifactPath = Annotated[str, StringConstraints(pattern=PATH_PATTERN, max_length=MAX_PATH_CHARS)]
"""The path of a file below the run, or of a folder of files."""
