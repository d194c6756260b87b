"""Writes a run to an MLflow tracking server, whose run is found by its tag `tandem.run`, by batch.

The server keeps one of equal values (same metric, batch, time and value), and pictures have fixed names: what is
written again stands there once. Files are sent to the server's own store of artifacts alone: whatever other place it
names for them, a folder of this machine perhaps, is left alone.
"""

import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from mirrors.backends.session_words import Answer, Job, Record, Samples

RUN_TAG, LOGGED_TAG = "tandem.run", "tandem.logged"
MAX_METRICS = 1000
"""Of one request to `log-batch`, by MLflow's documentation; likewise the next two."""
MAX_PARAMS = 100
MAX_PARAM_CHARS = 6000
THROUGH_THE_SERVER = "mlflow-artifacts:"
"""What the address of a run's artifacts begins with, where the server takes them (`--serve-artifacts`, its default)."""
REQUEST_SECONDS = "30"
THUMBNAIL_PIXELS = 256
"""Of the small copy that MLflow's page shows in its grid, as its own client makes it."""
STATUSES = {"completed": "FINISHED", "stopped": "KILLED", "cancelled": "KILLED", "failed": "FAILED"}
"""MLflow's words for the states in which runs end."""


def write(job: Job) -> Answer:
    """Log the records. Raises MLflow's errors."""
    client = _client(job)
    experiment = client.get_experiment_by_name(job["place"])
    experiment_id = client.create_experiment(job["place"]) if experiment is None else experiment.experiment_id
    run = _opened_run(client, experiment_id, job)
    run_id, artifacts = run.info.run_id, _artifacts(run, job["address"])
    if LOGGED_TAG not in run.data.tags:
        _log_settings(client, run_id, artifacts, job)
    _log_metrics(client, run_id, job["records"])
    samples = [record for record in job["records"] if record["type"] == "samples"]
    num_left_out = 0
    for record in samples:
        if artifacts is None:
            num_left_out += len(record["pictures"])
        else:
            _log_pictures(artifacts, run_id, record, Path(job["work"]))
    if samples and artifacts is not None:
        client.set_tag(run_id, "mlflow.loggedImages", "true")
    if job["ending"]:
        client.set_terminated(run_id, STATUSES[job["ending"]])
    url = f"{job['address']}/#/experiments/{experiment_id}/runs/{run_id}"
    return {"url": url, "kept": {}, "num_pictures_left_out": num_left_out}


def _client(job: Job) -> Any:
    user, separator, word = job["credential"].partition(":")
    credentials = (
        {"MLFLOW_TRACKING_USERNAME": user, "MLFLOW_TRACKING_PASSWORD": word}
        if separator
        else {"MLFLOW_TRACKING_TOKEN": job["credential"]}
    )
    os.environ.update(
        {name: value for name, value in credentials.items() if value},
        HTTP_PROXY=job["proxy"],
        HTTPS_PROXY=job["proxy"],
        NO_PROXY="",
        MLFLOW_HTTP_REQUEST_TIMEOUT=REQUEST_SECONDS,
        MLFLOW_HTTP_REQUEST_MAX_RETRIES="2",
        MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR="false",
    )
    # After the environment, which MLflow reads as it is loaded.
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking_uri=job["address"])


def _opened_run(client: Any, experiment_id: str, job: Job) -> Any:
    """The run, made with its settings where it is not there yet."""
    facts = job["run"]
    found = client.search_runs([experiment_id], f"tags.`{RUN_TAG}` = '{facts['id']}'", max_results=1)
    if found:
        run = found[0]
        if run.info.status != "RUNNING":
            client.update_run(run.info.run_id, status="RUNNING")
    else:
        tags = {RUN_TAG: facts["id"], "tandem.url": facts["url"], **{f"tandem.tag.{tag}": "" for tag in facts["tags"]}}
        began = int(facts["started_at"] * 1000)
        run = client.create_run(experiment_id, start_time=began, tags=tags, run_name=facts["name"])
    return run


def _artifacts(run: Any, tracking_uri: str) -> Any:
    """The server's store of the run's artifacts; `None` where they would go elsewhere. Made of the address that was
    checked: MLflow's client would ask the server for it again with each file."""
    from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository

    uri = run.info.artifact_uri or ""
    return MlflowArtifactsRepository(uri, tracking_uri=tracking_uri) if uri.startswith(THROUGH_THE_SERVER) else None


def _log_settings(client: Any, run_id: str, artifacts: Any, job: Job) -> None:
    """The spec as parameters, and as a file where files are taken. A tag, written last, tells that they are there."""
    from mlflow.entities import Param

    spec = job["run"]["spec"]
    params = [Param(name, value[:MAX_PARAM_CHARS]) for name, value in _settings(spec)]
    for first in range(0, len(params), MAX_PARAMS):
        client.log_batch(run_id, params=params[first : first + MAX_PARAMS])
    if artifacts is not None:
        file = Path(job["work"], "spec.yaml")
        file.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True))
        artifacts.log_artifact(str(file))
    client.set_tag(run_id, LOGGED_TAG, "true")


def _settings(section: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every setting by its dotted path; lists of plain values are one setting."""
    if isinstance(section, dict):
        for name, value in section.items():
            yield from _settings(value, f"{path}.{name}" if path else name)
    elif isinstance(section, list) and any(isinstance(one, dict) for one in section):
        for place, value in enumerate(section):
            yield from _settings(value, f"{path}.{place}")
    else:
        yield path, str(section)


def _log_metrics(client: Any, run_id: str, records: Sequence[Record]) -> None:
    from mlflow.entities import Metric

    metrics = [
        Metric(key, value, int(record["at"] * 1000), record["batch"])
        for record in records
        if record["type"] == "metrics"
        for key, value in record["values"].items()
    ]
    for first in range(0, len(metrics), MAX_METRICS):
        client.log_batch(run_id, metrics=metrics[first : first + MAX_METRICS])


def _log_pictures(artifacts: Any, run_id: str, record: Samples, work: Path) -> None:
    """As files that MLflow's page shows as images over steps, by its pattern of names: each with a number of its own
    that is the same in every try, and beside it a small copy."""
    for picture in record["pictures"]:
        key = f"samples~{record['purpose']}~{picture['name']}"
        number = uuid.uuid5(uuid.UUID(run_id), f"{record['seq']} {key}")
        name = f"{key}+step+{record['batch']}+timestamp+{int(record['at'] * 1000)}+{number}"
        whole = work / f"{name}{Path(picture['file']).suffix}"
        small = work / f"{name}+compressed.webp"
        with Image.open(picture["file"]) as opened:
            opened.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
            opened.save(small)
        Path(picture["file"]).rename(whole)
        for file in (whole, small):
            artifacts.log_artifact(str(file), "images")
            file.unlink()
