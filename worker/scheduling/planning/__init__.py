"""Which lanes generate, which train, with which switches: from what a run asks for to the plan it works by."""
