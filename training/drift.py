"""How far a candidate has moved from its parent: per-token KL on the parent's own answers to `dev` prompts.

KL(parent || candidate), summed over the whole vocabulary at each token of the parent's greedy answers. The divergence
on the new task predicts what is forgotten of the old (arXiv 2509.04259, section 4).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evalctl.models.folder import layout
from evalctl.models.loading import load_weights
from evalctl.models.local import LocalModel
from evalctl.stats import mean
from evalctl.types import Estimate, Message, Request, Sampling

from .adapters import own_randomness
from .tokens import render, token_ids


def drift(
    parent: Path, candidate: Path, prompts: Sequence[tuple[str, tuple[Message, ...]]], max_tokens: int
) -> Estimate | None:
    """The mean over tokens in nats, with its 95% interval by cluster; None where the parent answers nothing.

    `prompts` are (cluster, messages); each answer has at most `max_tokens` tokens.
    """
    with own_randomness():
        model = LocalModel(parent)
        sampling = Sampling(max_tokens=max_tokens)
        answers = [
            answer.text
            for start in range(0, len(prompts), model.batch_size)
            for answer in model.generate([Request(m, sampling) for _, m in prompts[start : start + model.batch_size]])
        ]
        tokenizer = model.tokenizer
        pairs = []
        for (_, messages), text in zip(prompts, answers, strict=True):
            pairs.append((token_ids(tokenizer, render(tokenizer, messages, opened=True)), token_ids(tokenizer, text)))
        first = _log_probs(load_weights(layout(parent), "float32"), pairs)
        second = _log_probs(load_weights(layout(candidate), "float32"), pairs)
        values, labels = [], []
        clusters = {name: number for number, name in enumerate(dict.fromkeys(cluster for cluster, _ in prompts))}
        for (cluster, _), p, q in zip(prompts, first, second, strict=True):
            if p is not None and q is not None:
                values += ((p.exp() * (p - q)).sum(-1)).tolist()
                labels += [clusters[cluster]] * len(p)
    if not values:
        return None
    return mean(np.array(values), np.array(labels, np.int64), None)


def _log_probs(model: Any, pairs: Sequence[tuple[list[int], list[int]]]) -> list[Any]:
    """Log-probabilities before each token of each answer: shape (answer tokens, vocabulary); None where it is empty."""
    import torch

    found: list[Any] = []
    with torch.inference_mode():
        for prompt, answer in pairs:
            if not answer:
                found.append(None)
                continue
            ids = torch.tensor([prompt + answer])
            logits = model(input_ids=ids, logits_to_keep=len(answer) + 1, use_cache=False).logits[0, :-1]
            found.append(logits.float().log_softmax(-1))
    return found
