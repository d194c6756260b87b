"""Webhooks: what happens in projects and in the pool, told to the addresses that its owners chose."""
