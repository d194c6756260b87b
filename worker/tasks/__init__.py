"""Thin Celery tasks: each fetches by id and calls one service."""
