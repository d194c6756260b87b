"""One file per resource. A view parses, calls a service or selector, renders."""
