"""From a committed change to the browsers that watch: the lowest web app, knowing no other."""
