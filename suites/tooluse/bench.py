"""The second template module: other tools, other wording, other things, and two families that stand nowhere else.

What it makes is declared `bench`: nothing that training may see comes from here. Tool names put the thing first
and say another verb than any of the first module's, parameters are named otherwise, and requests are told.
"""

import random
from collections.abc import Callable

from .forms import WORDS, Scene, slug, tool


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


THINGS = {
    "pick": _split("thermostat, escape ladder, paddock, skylight, dishwasher, stage light"),
    "count": _split("sandwiches, lanterns, passes, cushions, samples, bandages"),
    "clock": _split("yoga class, board session, eclipse show, book club, flea market, blood drive"),
    "option": _split("limousine, nursery, kimono, gazebo, trophy case, parachute"),
    "flag": _split("affidavit, playlist, dossier, valentine, bulletin, floor plan"),
    "route": _split("balloon, caravan, submarine, penguin, telegraph, circus"),
    "unit": _split("waffle iron, snow cannon, espresso maker, hot tub, x-ray lamp, popcorn cart"),
    "code": _split("meteorite, dental chart, gift card, swab, bottle deposit, phone line"),
    "list": _split(
        "picnic, toolbox, sickbay, aquarium, playroom, bakery shelf, camp kit, salad bar, sewing box, gift basket, "
        "lunchbox, grab bag, tackle box, spa tray, pantry, craft table, first-aid bag, beach bag, fruit stand, "
        "stable, bird feeder, paint set, barbecue, hamper, minibar, treasure chest, lab bench, flower cart, ski bag, "
        "music room, mailroom, kennel, darkroom, dollhouse, baby bag, gym bag, trail pack, herb bed, snack cart, "
        "reading nook, wash stand, garden shed, workbench, costume trunk, tea cart, spice rack, sandbox, photo studio"
    ),
    "change": _split(
        "banquet, snow ride, pottery course, escape room, cooking class, wine cellar, raft trip, bowling lane, "
        "arcade, ballroom, observatory, ice rink, campsite, chess club, tennis court, planetarium, zip line, "
        "steam bath, gondola, hayride, puppet show, dog sled, rooftop bar, archery range, dinner cruise, loft, "
        "cinema box, study room, race track, sailboat, cable car, jazz cellar, forest hut, carousel, "
        "pool table, safari, tea room, swing hall, film set, maze, cheese night, ghost walk, boxing ring, "
        "radio booth, opera box, climbing wall, night market, quiz night"
    ),
}

GOODS = [
    "soap",
    "string",
    "honey",
    "chalk",
    "rice",
    "tape",
    "salt",
    "moss",
    "glue",
    "wool",
    "tea",
    "wax",
    "bread",
    "milk",
    "sand",
    "ribbon",
    "jam",
    "ink",
    "clay",
    "oats",
    "mint",
    "foil",
    "yarn",
    "corn",
]
GUESTS = [
    "Abdul",
    "Bea",
    "Chen",
    "Dora",
    "Eli",
    "Fay",
    "Gus",
    "Hana",
    "Ivo",
    "June",
    "Kofi",
    "Lena",
    "Musa",
    "Nora",
    "Otto",
    "Pia",
]
HARBORS = ["Bergen", "Naples", "Dakar", "Perth", "Hanoi", "Lagos", "Turin", "Porto", "Malmo", "Izmir", "Busan", "Tampa"]
SHADES = ["purple", "orange", "pink", "gray", "silver", "brown"]


def pick(thing: str, scene: random.Random, take: random.Random) -> Scene:
    up, down = scene.choice([("raise", "lower"), ("extend", "retract"), ("arm", "disarm")])
    wanted = up if take.random() < 0.5 else down
    who = take.choice(GUESTS)
    tools = (
        tool(f"{slug(thing)}_{up}", f"{up} it", by="string"),
        tool(f"{slug(thing)}_{down}", f"{down} it", by="string"),
    )
    return Scene(tools, f"{who} here. I want to {wanted} the {thing}.", f"{slug(thing)}_{wanted}", {"by": who}, "easy")


def count(thing: str, scene: random.Random, take: random.Random) -> Scene:
    number, hard, who = take.randint(2, 20), scene.random() < 0.5, take.choice(GUESTS)
    stated = WORDS[number] if hard else str(number)
    tools = (
        tool(f"{slug(thing)}_request", "ask for some", amount="integer"),
        tool(f"{slug(thing)}_giveback", "give some back", amount="integer"),
    )
    request = f"Our {thing} ran out, says {who}. Get {stated} of them."
    return Scene(tools, request, f"{slug(thing)}_request", {"amount": number}, "hard" if hard else "easy")


def clock(thing: str, scene: random.Random, take: random.Random) -> Scene:
    hour, minute, hard = take.randint(1, 5), take.choice([5, 10, 20, 25, 35, 55]), scene.random() < 0.5
    stated = f"{hour}:{minute:02d} in the afternoon" if hard else f"{hour + 12}:{minute:02d}"
    tools = (
        tool(f"{slug(thing)}_begin", "set its begin", at="HH:MM"),
        tool(f"{slug(thing)}_finish", "set its end", at="HH:MM"),
    )
    request = f"The {thing} now begins at {stated}."
    return Scene(
        tools, request, f"{slug(thing)}_begin", {"at": f"{hour + 12}:{minute:02d}"}, "hard" if hard else "easy"
    )


def option(thing: str, scene: random.Random, take: random.Random) -> Scene:
    shades = scene.sample(SHADES, 3)
    shade = take.choice(shades)
    tools = (
        tool(f"{slug(thing)}_finish", "choose its finish", shade="|".join(shades)),
        tool(f"{slug(thing)}_price", "its price"),
    )
    request = f"{take.choice(GUESTS)} decided: the {thing} will be {shade}."
    return Scene(tools, request, f"{slug(thing)}_finish", {"shade": shade}, "easy")


def flag(thing: str, scene: random.Random, take: random.Random) -> Scene:
    who, wanted = take.choice(GUESTS), scene.random() < 0.5
    tools = (
        tool(f"{slug(thing)}_publish", "publish it", author="string", public="boolean"),
        tool(f"{slug(thing)}_erase", "erase it", author="string"),
    )
    seen = "anyone may see it" if wanted else "nobody else may see it"
    request = f"Publish the {thing} by {who}; {seen}."
    arguments = {"author": who, "public": wanted}
    return Scene(tools, request, f"{slug(thing)}_publish", arguments, "easy" if wanted else "hard")


def route(thing: str, scene: random.Random, take: random.Random) -> Scene:
    origin, goal = take.sample(HARBORS, 2)
    hard = scene.random() < 0.5
    request = (
        f"The {thing} should reach {goal}; it leaves {origin}."
        if hard
        else f"The {thing} leaves {origin} and should reach {goal}."
    )
    tools = (
        tool(f"{slug(thing)}_voyage", "enter a voyage", origin="string", goal="string"),
        tool(f"{slug(thing)}_crew", "its crew"),
    )
    arguments = {"origin": origin, "goal": goal}
    return Scene(tools, request, f"{slug(thing)}_voyage", arguments, "hard" if hard else "easy")


def unit(thing: str, scene: random.Random, take: random.Random) -> Scene:
    hard = scene.random() < 0.4
    minutes = take.randint(1, 4) if hard else 0
    seconds = 60 * minutes if hard else take.randint(5, 50)
    stated = f"{WORDS[minutes]} minute{'s' * (minutes > 1)}" if hard else f"{seconds} seconds"
    tools = (
        tool(f"{slug(thing)}_operate", "let it work", seconds="integer"),
        tool(f"{slug(thing)}_rest", "let it rest", seconds="integer"),
    )
    request = f"{take.choice(GUESTS)} operates the {thing} for {stated}."
    return Scene(tools, request, f"{slug(thing)}_operate", {"seconds": seconds}, "hard" if hard else "easy")


def code(thing: str, scene: random.Random, take: random.Random) -> Scene:
    first, second = (f"{take.randint(10, 99)}-{''.join(take.choice('QWXYZKJV') for _ in range(2))}" for _ in range(2))
    hard = scene.random() < 0.4
    tools = (
        tool(f"{slug(thing)}_lookup", "look one up", key="string"),
        tool(f"{slug(thing)}_erase", "erase one", key="string"),
    )
    who = take.choice(GUESTS)
    request = f"Not {second}: look up {thing} {first}." if hard else f"{who} waits. Look up {thing} {first}."
    return Scene(tools, request, f"{slug(thing)}_lookup", {"key": first}, "hard" if hard else "easy")


def several(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """Several things as a list, in the order in which they are said."""
    goods = take.sample(GOODS, scene.choice([2, 2, 3]))
    said = f"{', '.join(goods[:-1])} and {goods[-1]}"
    who = take.choice(GUESTS)
    request = take.choice(
        [
            f"The {thing} lacks {said}; add them.",
            f"{who} brought {said} for the {thing}, add them.",
            f"Add {said} to the {thing}.",
        ]
    )
    tools = (
        tool(f"{slug(thing)}_add", "add things", items="list"),
        tool(f"{slug(thing)}_take", "take things out", items="list"),
    )
    return Scene(tools, request, f"{slug(thing)}_add", {"items": goods}, "easy" if len(goods) == 2 else "hard")


def change(thing: str, scene: random.Random, take: random.Random) -> Scene:
    """A number that the speaker corrects: the last word counts."""
    old, new = take.sample(range(2, 15), 2)
    who, hard = take.choice(GUESTS), scene.random() < 0.5
    request = (
        f"Book the {thing} for {new}, not {old}."
        if hard
        else take.choice(
            [f"Book the {thing} for {old}, no, {new}.", f"{who} wants {old}, sorry, {new} for the {thing}."]
        )
    )
    tools = (
        tool(f"{slug(thing)}_book", "book seats", seats="integer"),
        tool(f"{slug(thing)}_free", "free seats", seats="integer"),
    )
    return Scene(tools, request, f"{slug(thing)}_book", {"seats": new}, "hard" if hard else "easy")


FAMILIES: dict[str, Callable[[str, random.Random, random.Random], Scene]] = {
    "pick": pick,
    "count": count,
    "clock": clock,
    "option": option,
    "flag": flag,
    "route": route,
    "unit": unit,
    "code": code,
    "list": several,
    "change": change,
}
