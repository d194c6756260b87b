"""Configuration and start-up: settings, urls, ASGI, Celery, embedded servers, the supervisor and the `up` command.

The only package that may import every other; nothing imports it, except through Django's settings.
"""
