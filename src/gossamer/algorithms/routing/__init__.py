"""Permutation routing, and what partial broadcasts share with it: rotated dimensions, ranks by prefix, packing."""
