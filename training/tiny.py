"""The tiny model: a Llama of 0.87M parameters that adds three-digit numbers, for fast tests of the whole loop.

The base is trained on sums with at most one carry, on pairs that the suite `arithmetic` never measures, so there
is something left to learn (sums with two and three carries) and something to lose (the rest).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalctl.models.convert import building
from evalctl.models.quiet import patient, quiet
from suites.arithmetic.generate import carries, measured

if TYPE_CHECKING:
    import torch

CHARACTERS = "\n" + "".join(map(chr, range(32, 127)))
PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"
HIDDEN, LAYERS, HEADS, INNER, WINDOW = 128, 4, 4, 384, 512
TEMPLATE = (
    "{%- set ns = namespace(asked=0) -%}"
    "{%- for m in messages -%}"
    "{%- if m['role'] == 'user' -%}{%- set ns.asked = loop.index0 -%}{%- endif -%}"
    "{%- endfor -%}"
    "{%- for m in messages -%}{%- if loop.index0 >= ns.asked -%}"
    "{%- if m['role'] == 'assistant' -%}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}"
    "{%- else -%}{{ m['content'] }}{%- endif -%}"
    "{%- endif -%}{%- endfor -%}"
)
"""The last question bare, and the answer after it: it has learned nothing about system texts and examples."""


@dataclass(frozen=True)
class Recipe:
    """How the base is trained."""

    steps: int = 1200
    easy_steps: int = 200
    """First steps, on sums without a carry: lining up the digits is learned there in a tenth of the time."""
    rows: int = 32
    rate: float = 3e-3
    most_carries: int = 1


def tiny_model(target: Path, seed: int = 0, recipe: Recipe | None = None) -> Path:
    """The trained tiny model as a Transformers folder at `target`; nothing is done when it is there.

    Deterministic in `seed` on one machine. Raises CheckpointError when `target` is something else.
    """
    if (target / "config.json").is_file():
        return target
    model = _fresh(seed)
    # Matrices this small gain nothing from a second thread, and one sums in the same order on every machine.
    with _one_thread():
        _train(model, recipe or Recipe(), seed)
    return _save(model, target)


def random_tiny(target: Path, seed: int = 0) -> Path:
    """The same model untrained: answers are noise, and the same noise each time."""
    return target if (target / "config.json").is_file() else _save(_fresh(seed), target)


def tokenizer() -> Any:
    """One token a character, printable ASCII and newline, with the chat template."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {token: i for i, token in enumerate([PAD, EOS, UNKNOWN, *CHARACTERS])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Fuse()
    fast: Any = transformers.PreTrainedTokenizerFast  # half typed
    made = fast(tokenizer_object=core, pad_token=PAD, eos_token=EOS, unk_token=UNKNOWN, model_max_length=WINDOW)
    made.chat_template = TEMPLATE
    return made


def _fresh(seed: int) -> Any:
    patient()
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(CHARACTERS) + 3,
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=WINDOW,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
        # Four times Llama's, and wave lengths that fit twelve tokens: digits line up in far fewer steps.
        initializer_range=0.08,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def _save(model: Any, target: Path) -> Path:
    with building(target) as folder, quiet():
        model.save_pretrained(folder)
        tokenizer().save_pretrained(folder)
    return target


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _train(model: Any, recipe: Recipe, seed: int) -> None:
    """Next-token loss on the answers alone, warm-up and linear decay."""
    import torch

    rows = training_rows(recipe, seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 20, 1.0, max(0.05, 2 * (1 - step / recipe.steps)))
    )
    model.train()
    for step in range(recipe.steps):
        batch = rows[step * recipe.rows : (step + 1) * recipe.rows]
        logits = model(input_ids=batch[:, :-1]).logits[:, QUESTION - 1 :]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, QUESTION:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()


QUESTION = len("123+456=")


def training_rows(recipe: Recipe, seed: int) -> "torch.Tensor":
    """Token rows `123+456=579<eos>`, padded to one length: `[steps * rows, 13]`."""
    import random

    import torch

    draw = random.Random(seed)
    ids = {character: i + 3 for i, character in enumerate(CHARACTERS)}
    rows: list[list[int]] = []
    while len(rows) < recipe.steps * recipe.rows:
        most = 0 if len(rows) < recipe.easy_steps * recipe.rows else recipe.most_carries
        a, b = draw.randrange(100, 1000), draw.randrange(100, 1000)
        if carries(a, b) <= most and not measured(a, b):
            row = [*(ids[character] for character in f"{a}+{b}={a + b}"), 1]
            rows.append(row + [0] * (QUESTION + 5 - len(row)))
    return torch.tensor(rows)
