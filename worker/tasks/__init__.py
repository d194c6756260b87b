"""Celery tasks: thin, idempotent, named by `worker.contracts.task_names`; each calls one service."""
