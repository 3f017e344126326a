"""Structure found in a network that came as a list of links."""

from gossamer.networks.recognition.recognizing import Recognition, recognition, recognized

__all__ = ["Recognition", "recognition", "recognized"]
