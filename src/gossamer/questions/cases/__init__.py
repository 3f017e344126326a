"""Cases and offers: what is asked of algorithms and bounds, and what algorithms answer."""

from gossamer.questions.cases.case import Case
from gossamer.questions.cases.offers import (
    EFFORTS,
    BuilderProof,
    Effort,
    Needs,
    Offer,
    Proposer,
    Refusal,
    first_refusal,
)

__all__ = ["EFFORTS", "BuilderProof", "Case", "Effort", "Needs", "Offer", "Proposer", "Refusal", "first_refusal"]
