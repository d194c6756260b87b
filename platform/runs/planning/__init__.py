"""Which lanes do which work of a run, and what its work costs."""
