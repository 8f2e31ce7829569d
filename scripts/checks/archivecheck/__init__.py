"""What scripts/check archives compares, and with what."""
