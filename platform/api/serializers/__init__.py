"""The bodies of REST v1: what is accepted, and what the schema says of what is answered."""
