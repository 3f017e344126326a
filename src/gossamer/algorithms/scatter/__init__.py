"""Scatter: one node sends a different message to each other node."""
