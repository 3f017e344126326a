"""Cases and offers: what is asked of algorithms and bounds, and what algorithms answer."""

from gossamer.cases.case import Case
from gossamer.cases.needs import Needs
from gossamer.cases.offers import EFFORTS, Effort, Offer, Proof, Proposer, Refusal, first_refusal

__all__ = ["EFFORTS", "Case", "Effort", "Needs", "Offer", "Proof", "Proposer", "Refusal", "first_refusal"]
