"""The report of a run: one HTML file that opens without the server."""
