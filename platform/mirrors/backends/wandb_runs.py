"""Writes a run to W&B: online as the run of a fixed id, which each session resumes, or as files for `wandb sync`.

W&B's own step is the number in the run's stream, which never repeats: W&B drops what it has already. Charts are drawn
over `batch`. Invariant of the files: folders of sessions whose answer never came are deleted before one is added.
"""

import shutil
from pathlib import Path
from typing import Any

import wandb

from mirrors.backends.session_words import Answer, Job, Record

CONNECT_SECONDS = 60
"""For W&B's answer that it has the run."""


def write(job: Job) -> Answer:
    """Log the records and wait until W&B has them. Raises wandb's errors."""
    is_offline = job["kind"] == "wandb_offline"
    accepted: list[str] = job["kept"].get("folders", [])
    if is_offline:
        _delete_unaccepted(Path(job["folder"]), job["run"]["id"], accepted)
    run = _open(job, is_offline=is_offline)
    run.define_metric("batch", hidden=True)
    run.define_metric("*", step_metric="batch")
    for record in job["records"]:
        if row := _row(record):
            run.log({**row, "batch": record["batch"], "_timestamp": record["at"]}, step=record["seq"])
    folder, url = Path(run.dir).parent.name, run.url or ""
    run.finish(exit_code=1 if job["ending"] == "failed" else 0)
    kept = {"folders": [*accepted, folder]} if is_offline else {}
    return {"url": url if url.startswith(("https://", "http://")) else "", "kept": kept, "num_pictures_left_out": 0}


def _open(job: Job, *, is_offline: bool) -> Any:
    run = job["run"]
    entity, _, project = job["place"].rpartition("/")
    server = {"base_url": job["address"]} if job["address"] else {}
    settings = wandb.Settings(
        **server,
        api_key=job["credential"] or None,
        http_proxy=job["proxy"] or None,
        https_proxy=job["proxy"] or None,
        root_dir=job["folder"] if is_offline else job["work"],
        init_timeout=CONNECT_SECONDS,
        # Of the platform itself nothing is told: neither its output, code and packages, nor its machine.
        console="off",
        silent=True,
        disable_git=True,
        disable_code=True,
        disable_job_creation=True,
        x_disable_stats=True,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
    )
    return wandb.init(
        mode="offline" if is_offline else "online",
        entity=entity or None,
        project=project,
        id=run["id"],
        name=run["name"],
        tags=run["tags"],
        notes=run["url"],
        config=run["spec"],
        resume="allow",
        settings=settings,
    )


def _row(record: Record) -> dict[str, Any]:
    if record["type"] == "metrics":
        return {**record["values"], "optimizer_step": record["optimizer_step"]}
    if record["type"] == "samples" and record["pictures"]:
        images = [wandb.Image(picture["file"], caption=picture["caption"]) for picture in record["pictures"]]
        return {f"samples/{record['purpose']}": images}
    return {}


def _delete_unaccepted(folder: Path, run_id: str, accepted: list[str]) -> None:
    for found in (folder / "wandb").glob(f"offline-run-*-{run_id}"):
        if found.name not in accepted:
            shutil.rmtree(found)
