"""Near-identical input texts: what may not stand in two roles.

Two texts are near when they are the same but for case, punctuation and numbers, or when the sets of their
three-word shingles have a Jaccard similarity of at least `THRESHOLD`. Where numbers are all there is (fewer than
`WORDS_TO_MASK` words), they are kept and compared as a bag, so `2+3=` and `3+2=` are near and `2+4=` is not.
Candidates by prefix filtering (Chaudhuri, Ganti and Kaushik 2006): exact, without comparing all pairs.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

THRESHOLD = 0.8
WORDS_TO_MASK = 4
SHINGLE = 3

_TOKEN = re.compile(r"[^\W_]+")


def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers, folded; numbers masked where enough words remain.

    >>> tokens("Pay 30 euros to the bank."), tokens("3+2=")
    (('pay', '#', 'euros', 'to', 'the', 'bank'), ('2', '3'))
    """
    found = _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    words = sum(not token.isdigit() for token in found)
    if words < WORDS_TO_MASK:
        return tuple(sorted(found)) or (text.strip(),)
    return tuple("#" if token.isdigit() else token for token in found)


def shingles(parts: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """All runs of three tokens; a shorter text is one shingle."""
    if len(parts) <= SHINGLE:
        return frozenset([tuple(parts)])
    return frozenset(tuple(parts[i : i + SHINGLE]) for i in range(len(parts) - SHINGLE + 1))


def near_pairs(texts: Sequence[str], groups: Sequence[str]) -> Iterator[tuple[int, int, float]]:
    """(earlier index, later index, similarity) of near texts that stand in different groups."""
    sets = [shingles(tokens(text)) for text in texts]
    spread = Counter(shingle for found in sets for shingle in found)
    index: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for later, found in enumerate(sets):
        # Rarest first: two sets this similar must share one of each other's rarest.
        ordered = sorted(found, key=lambda shingle: (spread[shingle], shingle))
        prefix = ordered[: len(found) - ceil(THRESHOLD * len(found)) + 1]
        candidates = {i for shingle in prefix for i in index[shingle]}
        for earlier in sorted(candidates):
            if groups[earlier] != groups[later]:
                similarity = len(found & sets[earlier]) / len(found | sets[earlier])
                if similarity >= THRESHOLD:
                    yield earlier, later, similarity
        for shingle in prefix:
            index[shingle].append(later)
