"""A model folder: what is in it, what it lacks, and the mend. Nothing is loaded here."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CheckpointError

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
VOCABULARIES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
"""A folder with none of these has no tokenizer."""
TOKENIZER_FILES = (
    *VOCABULARIES,
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "chat_template.json",
)
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


@dataclass(frozen=True)
class Layout:
    """Where the parts of one model stand. A LoRA adapter has its base in another folder."""

    folder: Path
    base: Path
    """Holds config.json and the weights."""
    tokenizer: Path
    """Holds tokenizer and chat template: the adapter's own where it brought them, else the base's."""
    adapter: Path | None = None

    def files(self) -> dict[str, Path]:
        """Every file that could change an answer, by part and name: `weights/model.safetensors` …"""
        found = {f"weights/{path.name}": path for path in weight_files(self.base)}
        for name in ("config.json", "generation_config.json"):
            if (self.base / name).is_file():
                found[f"weights/{name}"] = self.base / name
        found |= {f"tokenizer/{n}": self.tokenizer / n for n in TOKENIZER_FILES if (self.tokenizer / n).is_file()}
        if self.adapter is not None:
            found |= {f"adapter/{n}": self.adapter / n for n in (ADAPTER_CONFIG, ADAPTER_WEIGHTS)}
        return found


def layout(folder: Path) -> Layout:
    """The parts of the model at `folder`; raises CheckpointError naming everything it lacks and the mend."""
    if not (folder / ADAPTER_CONFIG).is_file():
        tokenizer, base, adapter = folder, folder, None
        _refuse(folder, [*_lacks_weights(folder), *_lacks_tokenizer(folder)])
    else:
        base, adapter = _base_of(folder), folder
        tokenizer = folder if any((folder / name).is_file() for name in VOCABULARIES) else base
        _refuse(folder, _lacks_adapter_weights(folder))
        _refuse(base, _lacks_weights(base))
        _refuse(tokenizer, _lacks_tokenizer(tokenizer))
    return Layout(folder=folder, base=base, tokenizer=tokenizer, adapter=adapter)


def is_model(folder: Path) -> bool:
    """True where a folder says that it is a model or an adapter, whole or not."""
    return (folder / "config.json").is_file() or (folder / ADAPTER_CONFIG).is_file()


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the weights: one, or the shards and the index that names them."""
    if not (folder / INDEX).is_file():
        return [folder / WEIGHTS]
    named = read_json(folder / INDEX).get("weight_map", {})
    shards = sorted({str(name) for name in named.values()}) if isinstance(named, dict) else []
    if any(Path(name).name != name for name in shards):
        raise CheckpointError(f"{folder / INDEX}: names a shard outside its folder; save the model again")
    return [folder / INDEX, *(folder / name for name in shards)]


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; CheckpointError when it is not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read as JSON ({error}); save the model again") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: is not a JSON object; save the model again")
    return value


def _base_of(folder: Path) -> Path:
    named = read_json(folder / ADAPTER_CONFIG).get("base_model_name_or_path")
    if not isinstance(named, str) or not named:
        raise CheckpointError(
            f"{folder / ADAPTER_CONFIG}: names no base model; set base_model_name_or_path to its folder"
        )
    given = Path(named).expanduser()
    for place in (given, folder / given):
        if (place / "config.json").is_file():
            return place
    raise CheckpointError(
        f"{folder / ADAPTER_CONFIG}: the adapter's base {named!r} is no model folder here; "
        "set base_model_name_or_path to a folder with config.json and weights"
    )


def _refuse(folder: Path, lacks: list[str]) -> None:
    if lacks:
        raise CheckpointError(f"{folder}: " + "; and ".join(lacks))


def _pickled(folder: Path) -> list[str]:
    return sorted(path.name for pattern in PICKLES for path in folder.glob(pattern) if path.name != "training_args.bin")


def _lacks_weights(folder: Path) -> list[str]:
    if not (folder / "config.json").is_file():
        return ["no config.json: this is no model folder; give the folder that save_pretrained wrote"]
    missing = [path.name for path in weight_files(folder) if not path.is_file()]
    if not missing:
        return []
    pickles = _pickled(folder)
    if pickles:
        # Unpickling runs whatever code the file holds.
        return [
            f"weights only as pickle ({pickles[0]}), which evalctl never loads; load the model where you trust it "
            "and save_pretrained() writes safetensors"
        ]
    return [f"no weights ({', '.join(missing)} is not there); copy the safetensors files into the folder"]


def _lacks_adapter_weights(folder: Path) -> list[str]:
    if (folder / ADAPTER_WEIGHTS).is_file():
        return []
    if (folder / "adapter_model.bin").is_file():
        return ["adapter weights only as pickle (adapter_model.bin), which evalctl never loads; save it as safetensors"]
    return [f"no adapter weights ({ADAPTER_WEIGHTS} is not there); save the adapter again"]


def _lacks_tokenizer(folder: Path) -> list[str]:
    if not any((folder / name).is_file() for name in VOCABULARIES):
        return ["no tokenizer (tokenizer.json is not there); copy the base model's tokenizer files into the folder"]
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return []
    config = folder / "tokenizer_config.json"
    if config.is_file() and read_json(config).get("chat_template"):
        return []
    return [
        "no chat template; put one in chat_template.jinja beside the tokenizer "
        "(for a base model that reads plain text: {% for m in messages %}{{ m['content'] }}{% endfor %})"
    ]
