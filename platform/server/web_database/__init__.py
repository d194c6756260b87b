"""Django's back end for PostgreSQL, of the web alone: with a pool, and `api.database_circuit` before it."""
