"""What is deleted with time, kind by kind, where an administrator has set for how long it is kept."""
