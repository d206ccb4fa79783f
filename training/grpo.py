"""Reinforcement learning with verifiable rewards: GRPO through TRL, answers drawn by our own decode loop.

DeepSeekMath, arXiv 2402.03300, section 4; the loss is DAPO's (2503.14476), TRL's default. Groups without variance
carry no signal and are counted; an invalid reward is left out of its group's mean, deviation and loss.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evalctl.digests import trial_seed
from evalctl.models.decode import Decoder
from evalctl.models.decode import Row as Prompt
from evalctl.models.folder import layout
from evalctl.models.loading import load_tokenizer
from evalctl.models.quiet import quiet
from evalctl.types import Json

from .adapters import keep, own_randomness, snapshot, trainable
from .errors import NothingToLearn, StageError
from .rewards import Rewards
from .rows import KEPT, Row
from .settings import Rlvr
from .sft import common, told
from .stages import StageResult, StageWork
from .tokens import encode

PATIENCE = 5
"""Steps without a live group after which the pool is called too hard, or too easy."""
SAME = 1e-9


@dataclass
class Groups:
    """What the rewards of each step were, by group."""

    size: int
    live: int = 0
    dead: int = 0
    invalid: int = 0
    scored: int = 0
    means: list[float] = field(default_factory=list)
    """Of each step that had a valid reward."""
    barren: int = 0
    """Steps without a live group, since the last that had one."""

    def note(self, rewards: Sequence[float | None]) -> None:
        """One step's rewards, group after group."""
        before = self.live
        for start in range(0, len(rewards), self.size):
            valid = [reward for reward in rewards[start : start + self.size] if reward is not None]
            self.invalid += self.size - len(valid)
            self.scored += len(valid)
            if valid and max(valid) - min(valid) > SAME:
                self.live += 1
            else:
                self.dead += 1
        known = [reward for reward in rewards if reward is not None]
        if known:
            self.means.append(sum(known) / len(known))
        self.barren = 0 if self.live > before else self.barren + 1

    def figures(self) -> dict[str, Json]:
        """For the record."""
        groups, answers = self.live + self.dead, self.invalid + self.scored
        return {
            "live_group_rate": round(self.live / groups, 4) if groups else 0.0,
            "invalid_rate": round(self.invalid / answers, 4) if answers else 0.0,
            "first_reward": round(self.means[0], 4) if self.means else None,
            "last_reward": round(self.means[-1], 4) if self.means else None,
        }


class Hand:
    """What the trainer is given from our side: how answers are drawn, and how they are rewarded."""

    def __init__(self, tokenizer: Any, rows: Sequence[Row], judge: Rewards, settings: Rlvr, max_tokens: int) -> None:
        self.tokenizer = tokenizer
        self.rows = rows
        self.judge = judge
        self.settings = settings
        self.max_tokens = max_tokens
        self.groups = Groups(settings.group)
        self.sampled = 0
        """Tokens drawn."""
        self._prompts = {encoded.ids[: encoded.answer_from] for encoded in (encode(tokenizer, row) for row in rows)}

    def draw(self, model: Any, prompts: Sequence[Sequence[int]], seed: int) -> list[list[int]]:
        """An answer to each prompt, each with a seed of its own. The decoder is made anew: the weights have moved."""
        strange = [ids for ids in prompts if tuple(ids) not in self._prompts]
        if strange:
            raise StageError("the trainer's prompts are not those that are evaluated; its template differs from ours")
        rows = [
            Prompt(tuple(ids), self.max_tokens, self.settings.temperature, 1.0, trial_seed(seed, str(place), "{}", 1))
            for place, ids in enumerate(prompts)
        ]
        model.eval()
        try:
            drawn = Decoder(model, frozenset({int(self.tokenizer.eos_token_id)})).run(rows)
        finally:
            model.train()
        self.sampled += sum(map(len, drawn))
        return drawn

    def reward(self, completion_ids: Sequence[Sequence[int]], place: Sequence[int], **_: Any) -> list[float | None]:
        """The suites' own scorers on the answers; None is invalid."""
        texts = [
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
            for ids in completion_ids
        ]
        asked = [self.rows[at] for at in place]
        found = self.judge([(row.suite, row.sample, text) for row, text in zip(asked, texts, strict=True)])
        self.groups.note(found)
        return found


def rlvr(work: StageWork, settings: Rlvr, judge: Rewards, max_tokens: int) -> StageResult:
    """Train on what the model itself answers to the rows' prompts, and keep the adapter.

    Raises NothingToLearn where no group has variance, StageError where no weight changes.
    """
    rows = [row for row in work.rows if row.kind != KEPT] or list(work.rows)
    with own_randomness():
        tokenizer = load_tokenizer(layout(work.start))
        model = trainable(work.start, rank=8, layers=None, seed=work.seed)
        before = snapshot(model)
        hand = Hand(tokenizer, rows, judge, settings, max_tokens)
        steps = _train(model, rows, work, hand)
        groups = hand.groups
        if not groups.scored:
            raise StageError(
                f"none of {groups.invalid} answers could be judged ({dict(judge.invalid)}): mend the verifier"
            )
        if not groups.live:
            raise NothingToLearn(
                f"none of {groups.dead} groups of answers has variance (mean reward "
                f"{groups.means[-1] if groups.means else 0:.2f}): the pool is too hard, or too easy, for this model"
            )
        keep(model, before, layout(work.start).base, work.target)
    return StageResult(steps, len(rows), hand.sampled, {}, groups.figures() | {"invalid": dict(judge.invalid)})


def _train(model: Any, rows: Sequence[Row], work: StageWork, hand: Hand) -> int:
    """Steps done."""
    import datasets
    from transformers import PrinterCallback
    from trl.trainer.grpo_config import GRPOConfig

    settings = hand.settings
    table = datasets.Dataset.from_list(
        [
            {"prompt": [{"role": m.role, "content": m.content} for m in row.prompt], "place": place}
            for place, row in enumerate(rows)
        ]
    )
    # Whole groups, and as many of them as divide a step.
    at_once = settings.group * math.gcd(max(1, settings.at_once // settings.group), settings.prompts)
    with tempfile.TemporaryDirectory() as scratch, quiet():
        config = GRPOConfig(
            output_dir=scratch,
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=settings.prompts * settings.group // at_once,
            num_generations=settings.group,
            max_steps=settings.steps,
            learning_rate=settings.rate,
            lr_scheduler_type="constant",
            temperature=settings.temperature,
            # A nucleus would shift the ratio between what is sampled and what is trained.
            top_p=1.0,
            beta=settings.beta,
            max_completion_length=hand.max_tokens,
            mask_truncated_completions=False,
            remove_unused_columns=False,
            seed=work.seed % 2**32,
            **common(),
        )
        trainer = _trainer(hand, work.seed)(
            model=model,
            reward_funcs=hand.reward,
            args=config,
            train_dataset=table,
            processing_class=hand.tokenizer,
            callbacks=[told(work.tell), _patience(hand.groups)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return int(trainer.state.global_step)


def _trainer(hand: Hand, seed: int) -> Any:
    """TRL's trainer with our decode loop: several times its speed here, and seeded by answer."""
    from trl.trainer.grpo_trainer import GRPOTrainer

    class DrawnTrainer(GRPOTrainer):
        def _generate_single_turn(self, prompt_ids: Any, *_: Any, **__: Any) -> tuple[list[list[int]], None]:
            return hand.draw(self.model, prompt_ids, seed + int(self.state.global_step)), None

    return DrawnTrainer


def _patience(groups: Groups) -> Any:
    """A callback that ends a training from which nothing comes."""
    from transformers import TrainerCallback

    class Patience(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if groups.barren >= PATIENCE:
                control.should_training_stop = True

    return Patience()
