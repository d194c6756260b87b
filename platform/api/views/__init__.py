"""The views of REST v1, one module for each resource."""
