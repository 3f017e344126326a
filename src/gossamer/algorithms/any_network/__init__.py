"""Algorithms for any network, any links and any switches."""
