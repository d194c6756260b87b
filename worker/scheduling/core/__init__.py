"""The scheduler and what it decides: admission, generation, scoring, training, lending. And what work costs it."""
