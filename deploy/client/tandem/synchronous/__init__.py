# Written by `generate.py` from `asynchronous/__init__.py`.
"""A client: its connection, its calls, and the runs that they give."""
