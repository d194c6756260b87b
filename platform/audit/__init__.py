"""The audit log: who changed what, when, by which request. The lowest of the apps, so that every service can write
it."""
