"""The path of a run's events and artifacts to the web: spool on disk, background posts, uploads, log capture.

Nothing here may delay training: the controller only appends to a local file or a bounded queue, threads do the rest.
"""
