"""What passes between the analyser of words and the stores that keep its terms."""

from __future__ import annotations

from typing import NewType

# The terms of one memory, as `retrieval.terms` packs them; a store keeps them as they are.
PackedTerms = NewType("PackedTerms", bytes)
