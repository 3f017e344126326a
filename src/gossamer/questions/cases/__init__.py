"""Cases and offers: what is asked of algorithms and bounds, and what algorithms answer."""

from gossamer.questions.cases.algorithm_offers import (
    EFFORTS,
    BuilderProof,
    Effort,
    Needs,
    Offer,
    Proposer,
    Refusal,
    first_refusal,
)
from gossamer.questions.cases.case import Case

__all__ = ["EFFORTS", "BuilderProof", "Case", "Effort", "Needs", "Offer", "Proposer", "Refusal", "first_refusal"]
