"""What a run reports, on its way to the web: spool on disk, background posts, artifact uploads, log capture.

Nothing here may hold up training: the controller only appends to a local file or a bounded queue, threads do the rest.
"""
