"""Cases and offers: what is asked of algorithms and bounds, and what algorithms answer."""

from gossamer.questions.cases.case import Case
from gossamer.questions.cases.offers import EFFORTS, Effort, Needs, Offer, Proof, Proposer, Refusal, first_refusal

__all__ = ["EFFORTS", "Case", "Effort", "Needs", "Offer", "Proof", "Proposer", "Refusal", "first_refusal"]
