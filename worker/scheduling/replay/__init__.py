"""What a scheduler was given and what it decided, written as the run goes on, so that the run can be replayed."""
