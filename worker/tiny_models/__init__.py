"""Tiny random checkpoints of every model family, of the same classes as the real ones: a folder of each is a hub id to
the engine. `make tiny-models` writes them, and the tests build the same. No download."""
