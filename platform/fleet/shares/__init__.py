"""What each project is entitled to, uses and may spend."""
