"""Broadcast: one node sends the same message to all.

Flooding takes the eccentricity too, but a node may get the message over several links; every tree here sends it once to
each node.
"""
