"""Plans how a run uses a pool: which lanes generate, which train, with which switches, and what that takes."""
