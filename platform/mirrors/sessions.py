"""Holds one session with a mirror's tool: a process that loads the tool, writes a portion and ends.

Invariant: the process ends with the session, whatever becomes of either; it is given neither the platform's
environment nor a way to any host but through `catalog.outbound_proxy`.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from accounts.encryption import CannotDecrypt, decrypt
from catalog.mirror_places import SETTING, mirror_folder
from catalog.models import Mirror
from catalog.outbound_proxy import outbound_proxy
from mirrors.backends.session_words import ANSWER_FILE, Answer, Job
from mirrors.models import MAX_ERROR_CHARS, MirroredRun
from mirrors.portions import Portion

MAX_SECONDS = 180.0
"""Of one session: 256 pictures over a slow line. A longer one is ended, and counts as failed."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR")
_UNTOLD = {"DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
"""Keeps the tools from telling their makers of their use and of their errors."""


class SessionFailed(Exception):
    """The tool did not take the portion; the message says why."""


def hold_session(row: MirroredRun, portion: Portion, work: Path) -> Answer:
    """Write the portion, in the empty folder `work`. Raises `SessionFailed`."""
    mirror = row.mirror
    try:
        credential = decrypt(mirror.encrypted) if mirror.encrypted else ""
    except CannotDecrypt as error:
        raise SessionFailed(f"its credential cannot be read: {error}") from error
    folder = mirror_folder(mirror)
    with ExitStack() as held:
        proxy = ""
        if folder is None:
            proxy = held.enter_context(outbound_proxy(allowed_hosts=settings.TANDEM_MIRROR_HOSTS, setting=SETTING))
        else:
            folder.mkdir(parents=True, exist_ok=True)
        job = _job(row, mirror, portion, credential=credential, folder=str(folder or ""), work=work, proxy=proxy)
        return _answer(job, work)


def _job(row: MirroredRun, mirror: Mirror, portion: Portion, **where: Any) -> Job:
    run = row.run
    return Job(
        kind=mirror.kind,
        address=mirror.address,
        place=mirror.place,
        credential=where["credential"],
        folder=where["folder"],
        work=str(where["work"]),
        proxy=where["proxy"],
        run={
            "id": run.pk.hex,
            "name": run.name,
            "label": row.label,
            "url": f"{settings.TANDEM_PUBLIC_URL}/runs/{run.pk}",
            "tags": run.tags,
            "started_at": (run.started_at or run.created_at).timestamp(),
            "spec": run.spec,
        },
        kept=row.kept,
        records=list(portion.records),
        ending=portion.ending,
    )


def _answer(job: Job, work: Path) -> Answer:
    log = work / "session.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "mirrors.backends"],
            stdin=subprocess.PIPE,
            stdout=written,
            stderr=subprocess.STDOUT,
            cwd=work,
            env=_environment(work),
            start_new_session=True,
        )
    assert process.stdin is not None
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        # Its input stays open: by its end the process learns that nobody waits for it any more.
        code = process.wait(MAX_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise SessionFailed(f"it did not take everything within {MAX_SECONDS:g} s") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()
    if code != 0:
        raise SessionFailed(_why(log, code, secret=job["credential"]))
    answer: Answer = json.loads((work / ANSWER_FILE).read_text())
    return answer


def _environment(work: Path) -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    own = {"PYTHONPATH": str(settings.TANDEM_ROOT / "platform"), "HOME": str(work), "TMPDIR": str(work)}
    return {**passed_on, **_UNTOLD, **own}


def _why(log: Path, code: int, *, secret: str) -> str:
    """The last line that the process wrote: an error's, since whatever goes wrong there is raised. One that was killed
    has said nothing of it."""
    if code < 0:
        return f"its process was ended by signal {-code}"
    lines = log.read_text(errors="replace").replace("\x00", "�").strip().splitlines()
    said = lines[-1] if lines else f"its process ended with {code} and said nothing"
    return (said.replace(secret, "•••") if secret else said)[:MAX_ERROR_CHARS]
