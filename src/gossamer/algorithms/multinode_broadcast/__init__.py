"""Multinode broadcast (gossip, allgather) and partial multinode broadcast."""
