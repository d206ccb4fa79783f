"""Supervised fine-tuning with LoRA through TRL, on the answers' tokens alone."""

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from evalctl.models.folder import layout
from evalctl.models.loading import load_tokenizer
from evalctl.models.quiet import quiet

from .adapters import keep, own_randomness, snapshot, trainable
from .answers import Collator, answer_trainer, keeps_every_position
from .errors import StageError
from .rows import Row
from .settings import Sft
from .stages import StageResult, StageWork
from .tokens import Encoded, encode

MOST_LEFT_OUT = 0.1
"""Share of rows that may be left out before the stage fails: what is learned would not be what was curated."""
WARMUP = 0.1
"""Share of the steps over which the rate rises."""
FEW = 10
"""Steps under which it does not: the first step of a warm-up learns nothing."""


def sft(work: StageWork, settings: Sft) -> StageResult:
    """Train on `work.rows` and keep the adapter. Deterministic in its arguments on one machine.

    Raises StageError where too many rows are left out, no token is learned, or no weight changes.
    """
    with own_randomness():
        tokenizer = load_tokenizer(layout(work.start))
        encoded, left_out = fitting(tokenizer, work.rows, settings.longest)
        model = trainable(work.start, settings.rank, settings.layers, work.seed)
        before = snapshot(model)
        losses = _train(model, tokenizer, encoded, work, settings)
        keep(model, before, layout(work.start).base, work.target)
    tokens = sum(len(one.ids) - one.answer_from for one in encoded)
    figures = {"first_loss": losses[0], "last_loss": losses[-1], "answer_tokens": tokens}
    return StageResult(len(losses), len(encoded), round(tokens * settings.passes), left_out, figures)


def fitting(tokenizer: Any, rows: Sequence[Row], longest: int) -> tuple[list[Encoded], dict[str, int]]:
    """The rows as ids, and how many are left out for which reason. Raises StageError past MOST_LEFT_OUT."""
    encoded = [encode(tokenizer, row) for row in rows]
    kept = [one for one in encoded if len(one.ids) <= longest]
    lost = len(encoded) - len(kept)
    if not kept or lost > MOST_LEFT_OUT * len(encoded):
        raise StageError(
            f"{lost} of {len(encoded)} rows are longer than {longest} tokens, and at most {MOST_LEFT_OUT:.0%} may be "
            "left out; raise `longest` or shorten the prompts"
        )
    if not sum(len(one.ids) - one.answer_from for one in kept):
        raise StageError("no row has a token to learn")
    return kept, {f"longer than {longest} tokens": lost} if lost else {}


def _train(model: Any, tokenizer: Any, encoded: Sequence[Encoded], work: StageWork, settings: Sft) -> list[float]:
    """The loss of each step."""
    import datasets
    from transformers import PrinterCallback
    from trl.trainer.sft_config import SFTConfig

    steps = settings.passes * len(encoded) / settings.rows
    rows = datasets.Dataset.from_list([{"input_ids": list(one.ids), "labels": one.labels} for one in encoded])
    with tempfile.TemporaryDirectory() as scratch, quiet():
        config = SFTConfig(
            output_dir=scratch,
            per_device_train_batch_size=settings.rows,
            num_train_epochs=settings.passes,
            learning_rate=settings.rate,
            lr_scheduler_type="linear",
            warmup_steps=WARMUP if steps >= FEW else 0,
            max_length=None,
            packing=False,
            dataset_kwargs={"skip_prepare_dataset": True},
            seed=work.seed % 2**32,
            **common(),
        )
        trainer = answer_trainer()(
            model=model,
            args=config,
            train_dataset=rows,
            processing_class=tokenizer,
            data_collator=Collator(int(tokenizer.pad_token_id or 0), keeps_every_position(model)),
            callbacks=[told(work.tell)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        losses = [float(entry["loss"]) for entry in trainer.state.log_history if "loss" in entry]
        seen = trainer.state.global_step
    if not losses or len(losses) != seen:
        raise StageError(f"{seen} steps and {len(losses)} losses: the trainer did not do what was asked of it")
    return losses


def common() -> dict[str, Any]:
    """What every trainer is told here: this process, these cores, nothing on disk, nobody else informed."""
    return {
        "use_cpu": True,
        "bf16": False,
        "fp16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "save_strategy": "no",
        "eval_strategy": "no",
        "load_best_model_at_end": False,
        "logging_steps": 1,
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": False,
        "log_level": "error",
    }


def told(tell: Callable[[int, int], None]) -> Any:
    """A callback that tells each finished step."""
    from transformers import TrainerCallback

    class Told(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            tell(int(state.global_step), int(state.max_steps))

    return Told()
