"""Real servers that `make up` starts from wheels: PostgreSQL, Valkey and a Ray head."""
