"""How programs on the cluster reach the web: drivers of runs, previews and node agents."""
