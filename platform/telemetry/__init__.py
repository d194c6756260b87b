"""What runs report: numbered ingest, the append-only stream, its exploded metric points and spans, and the sockets."""
