"""Points as bytes for another process, those of classes that a notebook defines included."""

from __future__ import annotations

import pickle
from typing import Any

from gossamer.errors import ModelError

__all__ = ["packed"]


def packed(point: Any) -> bytes:
    """Return a point as bytes that `pickle.loads` reads elsewhere.

    Raises
    ------
    ModelError
        If it cannot be packed, or is of a class of ``__main__`` and cloudpickle is not there to pack that as well.
    """
    try:
        if type(point).__module__ != "__main__":
            return pickle.dumps(point, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        reason = str(error)
    else:
        reason = "its class is defined in a notebook or script"
    try:
        import cloudpickle
    except ImportError:
        raise ModelError(
            f"a point cannot be sent to another process, {reason}; engine='in-process' runs it here, "
            "and with the extra 'dask' (cloudpickle) it can be sent"
        ) from None
    try:
        sent: bytes = cloudpickle.dumps(point)
    except Exception as error:
        raise ModelError(f"a point cannot be sent to another process: {error}") from error
    return sent
