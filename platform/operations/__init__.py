"""Long work that a request began, as one list: previews, GPU tests, drains, resizes, commands to runs, sweeps,
deletions.

Invariant: nothing is stored here. An operation is read from the rows of the app that does the work, so that the two
cannot disagree. Each kind has one source in `operations.sources`.
"""
