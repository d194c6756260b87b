"""Reports of runs: numbered ingest, the append-only stream, metric points and spans extracted from it, and the
sockets."""
