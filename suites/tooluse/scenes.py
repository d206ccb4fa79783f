"""The first template module: eight families, each one skill. What it makes is drawn over pool, dev and sealed.

A scene's tools and its band follow from the thing alone; wording, people, places and values from the take.
"""

import random
from collections.abc import Callable

from .forms import WORDS, Scene, slug, tool
from .words import CITIES, COLORS, PEOPLE, PLACES


def pick(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """Two tools with opposite effects, one of which is asked for."""
    on, off, said_on, said_off = scene.choice(
        [
            ("lock", "unlock", "lock", "unlock"),
            ("open", "close", "open", "close"),
            ("start", "stop", "start", "stop"),
            ("enable", "disable", "enable", "disable"),
            ("activate", "deactivate", "turn on", "turn off"),
            ("mount", "remove", "put up", "take down"),
        ]
    )
    room, wanted = take.randint(2, 60), take.random() < 0.5
    name, said = (on, said_on) if wanted else (off, said_off)
    tools = tuple(tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", room="integer") for verb in (on, off))
    request = take.choice(
        [
            "Please {said} the {thing} in room {room}.",
            "Could you {said} the {thing} of room {room}?",
            "Room {room}: {said} the {thing}.",
        ]
    ).format(said=said, thing=thing, room=room)
    literal = "easy" if name == said else "hard"
    return Scene((tools[0], tools[1]), request, f"{name}_{slug(thing)}", {"room": room}, literal)


def count(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """A quantity, in digits or in words, as an integer."""
    verb, other, said = scene.choice(
        [
            ("order", "return", "order"),
            ("buy", "sell", "buy"),
            ("pack", "unpack", "pack"),
            ("reserve", "release", "set aside"),
            ("ship", "recall", "send out"),
            ("rent", "lend", "rent"),
        ]
    )
    place, number, hard = take.choice(PLACES), take.randint(2, 20), scene.random() < 0.5
    stated = WORDS[number] if hard else str(number)
    request = take.choice(
        [
            "{Said} {n} {thing} for the {place}.",
            "We must {said} {n} {thing} for the {place}.",
            "The {place} wants us to {said} {n} {thing}.",
        ]
    ).format(said=said, Said=said.capitalize(), n=stated, thing=thing, place=place)
    tools = [tool(f"{v}_{slug(thing)}", f"{v} {thing}", count="integer") for v in (verb, other)]
    return Scene((tools[0], tools[1]), request, f"{verb}_{slug(thing)}", {"count": number}, "hard" if hard else "easy")


def clock(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """A time of day on the twelve-hour clock, as HH:MM."""
    verb, other, said = scene.choice(
        [
            ("schedule", "cancel", "Schedule"),
            ("start", "stop", "Start"),
            ("move", "drop", "Move"),
            ("plan", "skip", "Plan"),
            ("announce", "hide", "Announce"),
        ]
    )
    hour, minute, hard = take.randint(7, 11), take.choice([5, 10, 15, 20, 25, 40, 45, 50]), scene.random() < 0.5
    if hard:
        stated, value = f"{hour - 6}:{minute:02d} pm", f"{hour + 6}:{minute:02d}"
    else:
        stated, value = f"{hour}:{minute:02d} am", f"{hour:02d}:{minute:02d}"
    who = take.choice(PEOPLE)
    to = {"Move": "to", "Announce": "for"}.get(said, "at")
    request = take.choice(
        [f"{said} the {thing} with {who} {to} {stated}.", f"{who}: {said.lower()} the {thing} {to} {stated}."]
    )
    tools = (
        tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", time="HH:MM"),
        tool(f"{other}_{slug(thing)}", f"{other} the {thing}", time="HH:MM"),
    )
    return Scene(tools, request, f"{verb}_{slug(thing)}", {"time": value}, "hard" if hard else "easy")


def option(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """One of the values that the signature lists: named, or left over when the others are ruled out."""
    verb, other = scene.choice(
        [("paint", "clean"), ("dye", "wash"), ("tint", "polish"), ("coat", "sand"), ("print", "scan")]
    )
    colors = scene.sample(COLORS, 3)
    color, hard = take.choice(colors), scene.random() < 0.4
    who = take.choice(PEOPLE)
    if hard:
        first, second = [c for c in colors if c != color]
        request = take.choice(
            [
                f"{verb.capitalize()} {who}'s {thing}, neither {first} nor {second}.",
                f"{who} wants us to {verb} the {thing}: not {first}, not {second}.",
            ]
        )
    else:
        request = take.choice(
            [f"{verb.capitalize()} {who}'s {thing} {color}.", f"{who} would like the {thing} in {color}; {verb} it."]
        )
    tools = (
        tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", color="|".join(colors)),
        tool(f"{other}_{slug(thing)}", f"{other} the {thing}"),
    )
    return Scene(tools, request, f"{verb}_{slug(thing)}", {"color": color}, "hard" if hard else "easy")


def flag(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """A switch that the request turns on or off, beside a name."""
    verb, other = scene.choice([("send", "delete"), ("mail", "file"), ("issue", "revoke"), ("share", "archive")])
    switch, yes, no = scene.choice(
        [
            ("copy", "and keep a copy", "without a copy"),
            ("signed", "signed", "unsigned"),
            ("urgent", "as urgent", "not urgent"),
            ("color", "in color", "not in color"),
            ("reply", "and ask for a reply", "no reply needed"),
        ]
    )
    who, wanted = take.choice(PEOPLE), scene.random() < 0.5
    request = take.choice(
        [
            f"{verb.capitalize()} the {thing} to {who}, {yes if wanted else no}.",
            f"{who} needs the {thing}, {yes if wanted else no}; {verb} it.",
        ]
    )
    tools = (
        tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", to="string", **{switch: "boolean"}),
        tool(f"{other}_{slug(thing)}", f"{other} the {thing}", to="string"),
    )
    arguments = {"to": who, switch: wanted}
    return Scene(tools, request, f"{verb}_{slug(thing)}", arguments, "easy" if wanted else "hard")


def route(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """Two places that must not change sides, in whichever order they are said."""
    verb, other = scene.choice([("book", "track"), ("send", "hold"), ("hire", "rate"), ("plan", "audit")])
    start, end = take.sample(CITIES, 2)
    hard = scene.random() < 0.5
    way = f"to {end} from {start}" if hard else f"from {start} to {end}"
    request = take.choice(
        [
            f"{verb.capitalize()} the {thing} transport {way}.",
            f"We want to {verb} {thing} transport {way}.",
            f"{thing.capitalize()} transport {way}: {verb} it.",
        ]
    )
    tools = (
        tool(f"{verb}_{slug(thing)}_transport", f"{verb} it", start="string", end="string"),
        tool(f"{other}_{slug(thing)}_transport", f"{other} it", start="string", end="string"),
    )
    arguments = {"start": start, "end": end}
    return Scene(tools, request, f"{verb}_{slug(thing)}_transport", arguments, "hard" if hard else "easy")


def unit(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """A span of time in the unit that the signature asks for."""
    verb, other, said = scene.choice(
        [("run", "check", "Run"), ("pause", "test", "Pause"), ("use", "clean", "Use"), ("block", "rinse", "Block")]
    )
    place, hard = take.choice(PLACES), scene.random() < 0.4
    if hard:
        hours = take.randint(1, 3)
        stated, minutes = take.choice([(f"{WORDS[hours]} hour{'s' * (hours > 1)}", 60 * hours), ("half an hour", 30)])
    else:
        minutes = take.randint(2, 55)
        stated = f"{minutes} minutes"
    request = take.choice(
        [
            f"{said} the {thing} in the {place} for {stated}.",
            f"For {stated}, {said.lower()} the {thing} of the {place}.",
        ]
    )
    tools = (
        tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", minutes="integer"),
        tool(f"{other}_{slug(thing)}", f"{other} the {thing}", minutes="integer"),
    )
    return Scene(tools, request, f"{verb}_{slug(thing)}", {"minutes": minutes}, "hard" if hard else "easy")


def code(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """An identifier, copied to the letter; a second one in the request is not meant."""
    verb, other, said = scene.choice(
        [
            ("find", "list", "Find"),
            ("cancel", "count", "Cancel"),
            ("confirm", "sort", "Confirm"),
            ("block", "print", "Block"),
        ]
    )
    first, second = (_identifier(take) for _ in range(2))
    who, hard = take.choice(PEOPLE), scene.random() < 0.4
    if hard:
        request = take.choice(
            [
                f"Leave {second} alone, {said.lower()} {thing} {first} for {who}.",
                f"{said} {thing} {first} for {who}, not {second}.",
            ]
        )
    else:
        request = take.choice(
            [f"{said} {thing} {first} for {who}.", f"{who} asks us to {said.lower()} {thing} {first}."]
        )
    tools = (
        tool(f"{verb}_{slug(thing)}", f"{verb} the {thing}", code="string"),
        tool(f"{other}_{slug(thing)}", f"{other} the {thing}", code="string"),
    )
    return Scene(tools, request, f"{verb}_{slug(thing)}", {"code": first}, "hard" if hard else "easy")


def _identifier(take: random.Random) -> str:
    return "".join(take.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(2)) + str(take.randint(100, 999))


FAMILIES: dict[str, Callable[[str, random.Random, random.Random], Scene]] = {
    "pick": pick,
    "count": count,
    "clock": clock,
    "option": option,
    "flag": flag,
    "route": route,
    "unit": unit,
    "code": code,
}
