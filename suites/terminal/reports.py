"""Family `report`: read the files that are there, write what was asked to `answer.txt`.

Sibling: another question about other files. Constants fail because the data is drawn: no answer is `0`, and none
stands in the request.
"""

import random
from collections.abc import Sequence

from .task import Maker, Task, lines

NAMES = ["ada", "bob", "cleo", "dan", "eve", "fred", "gina", "hal", "iris", "joe", "kim", "lou", "mia", "ned"]
TEST = """
from verifier import data, read

def test_answer():
    assert read("answer.txt").rstrip("\\n") == data("expected.txt").rstrip("\\n")

def test_nothing_else_was_changed():
    assert read(data("file.txt")) == data("content.txt")
"""


def _task(
    request: str, file: str, content: str, expected: Sequence[object], solution: str, faults: Sequence[str]
) -> Task:
    """A task on one file; the guesses that a lazy agent makes are added to its own faults."""
    guesses = (
        "echo 0 > answer.txt",
        "echo 1 > answer.txt",
        "touch answer.txt",
        f"cp {file} answer.txt",
        f"echo {expected[0]}x > answer.txt",
    )
    tests = {"test_answer.py": TEST, "expected.txt": lines(*expected), "file.txt": file, "content.txt": content}
    return Task(
        request,
        {file: content},
        tests,
        f"{solution} > answer.txt",
        (*(f"{fault} > answer.txt" for fault in faults), *guesses),
        "easy" if len(expected) == 1 else "hard",
    )


def errors(draw: random.Random) -> Task:
    codes = [draw.choice([200, 200, 301, 404]) for _ in range(draw.randint(20, 30))] + [500] * draw.randint(2, 9)
    draw.shuffle(codes)
    content = lines(*(f"GET /{draw.choice(NAMES)}/500 {code}" for code in codes))
    return _task(
        "access.log has lines METHOD PATH STATUS. Write how many requests have status 500 to answer.txt.",
        "access.log",
        content,
        [codes.count(500)],
        "awk '$3 == 500' access.log | wc -l",
        ["grep -c 500 access.log", "wc -l < access.log"],
    )


def sales(draw: random.Random) -> Task:
    rows = [("north" if i < 3 else draw.choice(["north", "south", "east"]), draw.randint(11, 99)) for i in range(15)]
    draw.shuffle(rows)
    rows.append(("south", 17))
    return _task(
        "sales.csv has lines region,amount. Write the sum of the amounts of region north to answer.txt.",
        "sales.csv",
        lines(*(f"{region},{amount}" for region, amount in rows)),
        [sum(amount for region, amount in rows if region == "north")],
        "awk -F, '$1 == \"north\" {s += $2} END {print s}' sales.csv",
        ["awk -F, '{s += $2} END {print s}' sales.csv", "grep -c north sales.csv"],
    )


def warmest(draw: random.Random) -> Task:
    towns = draw.sample(["Oslo", "Rome", "Lima", "Bern", "Kyiv", "Riga"], 5)
    # One of one digit, and a tie by text: sorting as text gives another town.
    degrees = [9, *draw.sample(range(10, 38), 4)]
    return _task(
        "temps.txt has lines TOWN DEGREES. Write the name of the warmest town to answer.txt.",
        "temps.txt",
        lines(*(f"{town} {degree}" for town, degree in zip(towns, degrees, strict=True))),
        [towns[degrees.index(max(degrees))]],
        "sort -k2,2n temps.txt | tail -n 1 | cut -d' ' -f1",
        ["sort -k2,2 temps.txt | tail -n 1 | cut -d' ' -f1", "sort -k2,2n temps.txt | tail -n 1"],
    )


def todo(draw: random.Random) -> Task:
    undone = draw.randint(3, 9)
    jobs = ["[ ]"] * undone + ["[x]"] * (undone + draw.randint(1, 4))
    draw.shuffle(jobs)
    return _task(
        "todo.txt has a job a line; open ones start with [ ], others with [x]. Write how many are open to answer.txt.",
        "todo.txt",
        lines(*(f"{mark} call {draw.choice(NAMES)}" for mark in jobs)),
        [undone],
        "grep -c '^\\[ \\]' todo.txt",
        ["wc -l < todo.txt", "grep -c '^\\[x\\]' todo.txt"],
    )


def longest(draw: random.Random) -> Task:
    words = draw.sample(["fig", "pear", "grape", "cherry", "kiwi", "plum", "melon"], 6)
    words.append(draw.choice(["blackberry", "strawberry", "pomegranate"]))
    draw.shuffle(words)
    words.append("zebra")
    return _task(
        "words.txt has a word a line. Write the longest word to answer.txt.",
        "words.txt",
        lines(*words),
        [max(words, key=len)],
        "awk 'length > n {n = length; w = $0} END {print w}' words.txt",
        ["sort words.txt | tail -n 1", "tail -n 1 words.txt"],
    )


def stock(draw: random.Random) -> Task:
    names = draw.sample(NAMES, 8)
    counts = [draw.randint(1, 9) for _ in range(3)] + [draw.randint(10, 99) for _ in range(5)]
    rows = list(zip(names, counts, strict=True))
    draw.shuffle(rows)
    if [name for name, n in rows if n < 10] == sorted(name for name, n in rows if n < 10):
        rows.reverse()
    return _task(
        "stock.txt has lines ITEM COUNT. Write the items with a count below 10 to answer.txt, sorted, one a line.",
        "stock.txt",
        lines(*(f"{name} {n}" for name, n in rows)),
        sorted(name for name, n in rows if n < 10),
        "awk '$2 < 10 {print $1}' stock.txt | sort",
        ["awk '$2 < 10 {print $1}' stock.txt", "awk '$2 < 10' stock.txt | sort", "cut -d' ' -f1 stock.txt | sort"],
    )


def domains(draw: random.Random) -> Task:
    hosts = draw.sample(["ant.org", "bee.net", "cat.com", "dog.io", "elk.eu"], 3)
    mails = [f"{name}@{hosts[i % 3]}" for i, name in enumerate(draw.sample(NAMES, 8))]
    return _task(
        "mails.txt has an address a line. Write the domains after the @ to answer.txt, sorted, each once, one a line.",
        "mails.txt",
        lines(*mails),
        sorted(set(hosts)),
        "cut -d@ -f2 mails.txt | sort -u",
        ["cut -d@ -f2 mails.txt | sort", "sort -u mails.txt", "cut -d@ -f1 mails.txt | sort -u"],
    )


def port(draw: random.Random) -> Task:
    first, second, third = draw.sample(range(1024, 9999), 3)
    content = lines(
        "[database]", f"port = {first}", "[server]", "host = here", f"port = {second}", "[cache]", f"port = {third}"
    )
    return _task(
        "app.ini has sections with a port each. Write the port number of section [server] to answer.txt.",
        "app.ini",
        content,
        [second],
        'awk \'/^\\[/ {s = $0} s == "[server]" && $1 == "port" {print $3}\' app.ini',
        ["awk '$1 == \"port\" {print $3; exit}' app.ini", "awk '$1 == \"port\" {print $3}' app.ini | tail -n 1"],
    )


TASKS: dict[str, Maker] = {
    "errors": errors,
    "sales": sales,
    "warmest": warmest,
    "todo": todo,
    "longest": longest,
    "stock": stock,
    "domains": domains,
    "port": port,
}
