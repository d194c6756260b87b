"""Celery task names: enqueued by name, so that no web app imports a task module."""

DISPATCH_RUNS = "tandem.runs.dispatch"
LAUNCH_RUN = "tandem.runs.launch"
RECONCILE_RUNS = "tandem.runs.reconcile"
STOP_JOB = "tandem.runs.stop_job"
DELETE_RUN_ARTIFACTS = "tandem.runs.delete_artifacts"
TRY_PROMPTS = "tandem.gallery.try_prompts"
WATCH_TRIES = "tandem.gallery.watch_tries"
