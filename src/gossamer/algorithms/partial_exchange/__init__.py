"""Partial exchange: each of a set of active nodes sends a different message to every other node."""
