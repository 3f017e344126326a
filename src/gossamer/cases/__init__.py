"""Cases and offers: what is asked of algorithms and bounds, and what algorithms answer."""

from gossamer.cases.case import Case
from gossamer.cases.offers import Offer, Proposer, Refusal, first_refusal

__all__ = ["Case", "Offer", "Proposer", "Refusal", "first_refusal"]
