"""Who waits, for what, since when, until when; and who starts."""
