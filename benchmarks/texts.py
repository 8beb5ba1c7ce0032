"""Made-up notes whose words are as unevenly common as those of real ones."""

from __future__ import annotations

from itertools import accumulate
from random import Random

VOCABULARY = 30_000
WORDS_PER_NOTE = 35
_CONSONANTS = "bcdfghjklmnprstvwz"
_VOWELS = "aeiou"


class Notes:
    """Word number n stands with a chance of about 1/n (Zipf): the first few in most notes, the last in a handful."""

    def __init__(self, seed: int = 7) -> None:
        self._random = Random(seed)
        self.words = self._make_words()
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def text(self) -> str:
        chosen = self._random.choices(self.words, cum_weights=self._weights, k=WORDS_PER_NOTE)
        return " ".join(chosen).capitalize() + "."

    def common(self, count: int) -> list[str]:
        return self._random.sample(self.words[:25], count)

    def rare(self, count: int) -> list[str]:
        return self._random.sample(self.words[3000:9000], count)

    def _make_words(self) -> list[str]:
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            syllables = self._random.randint(2, 4)
            word = "".join(self._random.choice(_CONSONANTS) + self._random.choice(_VOWELS) for _ in range(syllables))
            made[word + self._random.choice("nrlk")] = None
        return list(made)
