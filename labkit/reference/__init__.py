"""Reference: the pages that `labkit help` shows, written in Markdown beside this file or generated from tables.

1. A page is named by its topic and has entries: the rules by number, verbs and words by name, the others by section.
2. A page may list *rows*, each a name in bold and below it an indented text; these are found by any word in them.
3. What code and tests cite (`R4`, `decision D14`, `spec, Limits`) is an entry of such a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from labkit.reference.scenario_texts import (
    ABOUT_FILES,
    ABOUT_MANY_RUNS,
    ABOUT_OBSERVED,
    ABOUT_OVER_TIME,
    ABOUT_PLACEHOLDERS,
    ABOUT_STEPS,
    ABOUT_WORK,
)

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from labkit.scenario.verb import Parameter, Verb

WIDTH = 110

_FOLDER = Path(__file__).resolve().parent

TOPICS = {
    "vault": "one node of the service in Python: requests, keys, machines that log in, a file, clients in process",
    "lab": "clusters on a simulated network: operations, faults, what was lost and why, going back, pictures",
    "scenario": "the keys of a scenario file, when its steps begin, how it is judged",
    "verbs": "what a step of a timeline can do; `verbs crash` shows one, with a file that uses it",
    "situations": "what a run can come to: names for the key covers of scenario files; `situations takeover`",
    "invariants": "what always has to hold in a lab, when that is judged, what breaks it; `invariants 'one primary'`",
    "regions": "measured latencies between regions of a public cloud, for links, with their sources",
    "files": "a lab as a file that goes on elsewhere: saving, opening, what is refused, the format",
    "serve": "a vault, its cloud or the clusters of a lab behind real ports; the control interface; every option",
    "testing": "how to test a client of the API with labkit, in a repository of your own",
    "teaching": "for whoever teaches: courses, minutes, what to ask, replies; `teaching 06` shows one lesson",
    "differences": "where labkit is unlike real servers; `differences transit`, or any word that is looked for",
    "words": "what a term means; `words guard` shows one",
    "coverage": "what each endpoint answers and where that is known from; `labkit coverage WORD` shows some",
    "speed": "what labkit was tried on, and how fast it is there",
    "pictures": "tones, signs and sizes of pictures, and the keys of the player",
    "explore": "what `labkit explore` draws, plays, finds and writes, in a notebook too",
    "when": "from which step, and from which instant on, a scenario breaks: what `labkit when` plays and prints",
    "sweep": "what `labkit sweep` plays and keeps of thousands of seeds, and what `labkit report` says of it",
    "proof": "what `labkit prove` searches, what that shows, and what it does not",
    "api": "the API in brief: what the code cites as `spec`",
    "rules": "rules R1 to R25 and the decisions C, K, T, A and D; `rules R4` shows one",
    "architecture": "the map: packages, the walk of a request, where things are",
}


ABOUT_VERBS = """
A timeline is a list of steps such as {do: replicate, primary: paris, secondary: tokyo, at: 1s}.  The verbs of do, each
with its parameters and a file that uses it on a page of its own (labkit help verbs crash):"""

ABOUT_INVARIANTS = """\
# Invariants

What always has to hold in a lab, by the names that scenario files use (`invariants: {one primary: broken}`).  A rule is
judged on the events that can break it, by other means than the code that keeps it.  A broken one is recorded with the
instant and what was seen; it never stops a lab that is driven by hand.  `lab.invariants.verdicts()` lists them all;
`lab.watch(name, check)` adds one of your own: a function of the lab, or a condition of scenario files such as
`{"lag": {"at most": 200}}`, which travels in snapshots and branches.  A verdict says *does not apply* where nothing
gave an occasion to judge."""

ABOUT_SITUATIONS = """\
# Situations

What a run can come to, by the names that scenario files use (`covers: [takeover, merkle-diff to merkle-sync]`): a file
that covers a situation which none of its runs reaches is unknown.  Each is known from what is reported, with the trace
on or off."""

ROW = re.compile(r"(?m)^\*\*(.+?)\*\*.*\n(?: {4}.*(?:\n|$))+")

SEE_EXAMPLES = "`labkit help verbs NAME` shows one verb, with a file that uses it."


class UnknownTopic(LookupError):
    """A topic or entry that does not exist; its text says which ones do."""


def page(topic: str) -> str:
    """Return the whole page of a topic; raise UnknownTopic."""
    if topic not in TOPICS:
        raise UnknownTopic(_unknown("topic", topic, TOPICS))
    if topic == "verbs":
        return "\n\n".join([*(_described(name) for name in _verb_names()), SEE_EXAMPLES])
    if topic == "regions":
        return "\n".join(_regions())
    if topic == "scenario":
        return "\n".join(_scenario())
    if topic == "invariants":
        return "\n".join(_invariants())
    if topic == "situations":
        return "\n".join(_situations())
    return (_FOLDER / f"{topic}.md").read_text(encoding="utf-8").rstrip()


def entry(topic: str, name: str) -> str:
    """Return one entry of a page, such as R4 of the rules, else its rows that contain a word; raise UnknownTopic."""
    known = entries(topic)
    by_spelling = {key.lower(): text for key, text in known.items()}
    found = by_spelling.get(name.lower()) or "\n\n".join(dict.fromkeys(_rows_with(topic, name)))
    if not found:
        raise UnknownTopic(_unknown(f"entry of {topic}", name, known))
    return found


def entries(topic: str) -> dict[str, str]:
    """Return the entries of a page by name, in its order: R4 of the rules, a word, a section of the others."""
    if topic == "verbs":
        return _verbs()
    if topic == "words":
        return {name: text for names, text in _rows(page(topic)) for name in names.split(", ")}
    found: dict[str, str] = {}
    for part in re.split(r"(?m)^(?=##)", page(topic))[1:]:
        heading, _, body = part.partition("\n")
        title = heading.lstrip("# ")
        name = title.split(" ")[0] if heading.startswith("### ") else title
        if body.strip():
            found[name] = f"{title}\n\n{body.strip(chr(10)).rstrip()}"
    return found


def _rows(text: str) -> list[tuple[str, str]]:
    """The rows of a page by their names."""
    return [(row[1], row[0].rstrip()) for row in ROW.finditer(text)]


def _rows_with(topic: str, word: str) -> Iterator[str]:
    """The rows that contain a word, at the beginning of one of theirs, below the title of their section."""
    wanted = re.compile(rf"(?<!\w){re.escape(' '.join(word.lower().split()))}")
    for title, section in entries(topic).items():
        rows = [text for _, text in _rows(section) if wanted.search(" ".join(text.lower().split()))]
        if rows and word.strip():
            yield "\n\n".join(rows if topic == "words" else [title, *rows])


def _verbs() -> dict[str, str]:
    from labkit.reference.examples import EXAMPLES

    texts = {name: _described(name) for name in _verb_names()}
    for name, text in texts.items():
        if name in EXAMPLES:
            texts[name] = f"{text}\n\nexample.lab.yaml, to be run with `labkit run`:\n\n{EXAMPLES[name].text.rstrip()}"
    return texts


def _verb_names() -> tuple[str, ...]:
    from labkit.scenario.verbs import VERBS

    return tuple(VERBS)


def _described(name: str) -> str:
    from labkit.scenario.verbs import VERBS

    return "\n".join(_describe(VERBS[name]))


def _describe(verb: Verb) -> Iterator[str]:
    yield f"{verb.name}: {verb.about}"
    for parameter in verb.parameters:
        yield f"    {parameter.name}: {parameter.expected}{_default(parameter)}"
        yield from (f"        {key}: {wanted}" for key, wanted in _members(parameter).items())
    if verb.undo:
        yield f"    (undone by {verb.undo})"


def _members(parameter: Parameter) -> dict[str, str]:
    """The keys of a parameter that is a mapping of its own; a range of a check is described in expect."""
    from labkit.scenario.file_parts import fields_of
    from labkit.scenario.request_verbs import AnswerPart

    return fields_of(AnswerPart) if parameter.value_type is AnswerPart else {}


def _default(parameter: Parameter) -> str:
    if parameter.required or "unless given" in parameter.expected:
        return ""
    return (
        "; may be left out" if parameter.default in (None, "", False, 0, {}) else f"; {parameter.default} unless given"
    )


def _regions() -> Iterator[str]:
    from labkit.lab.plan.measured_latencies import PLACES, ROUND_TRIPS_US

    yield "# Measured latencies\n"
    yield "A link of a scenario file has `measured: [eu-west-3, ap-east-1]` in place of a latency, in Python"
    yield '`LinkPlan.measured(("paris", "tokyo"), ("eu-west-3", "ap-east-1"))`. It takes half the round trip each way.'
    for source, pairs in ROUND_TRIPS_US.items():
        yield f"\n## {source.title}\n"
        yield f"{source.address}: {source.about}.\n"
        for (a, b), trip_us in pairs.items():
            yield f"    {a} {b}: {trip_us / 1000:g} ms ({PLACES[a]}, {PLACES[b]})"


def _scenario() -> Iterator[str]:
    from labkit.lab.invariants import STANDING
    from labkit.scenario.file_parts import FilePart

    yield ABOUT_FILES
    yield from _keys(FilePart, "")
    yield ABOUT_MANY_RUNS.rstrip()
    yield ABOUT_WORK.rstrip()
    yield from _verbs_by_kind()
    yield ABOUT_STEPS
    yield from (f"    {name}" for name in STANDING)
    yield ABOUT_OVER_TIME.rstrip()
    yield from _names_in_files()


def _names_in_files() -> Iterator[str]:
    from labkit.lab.hosts.cloud_host import OF_CLOUD
    from labkit.scenario.expect_keys import OBSERVABLE

    yield ABOUT_OBSERVED.rstrip()
    yield from _indented(OBSERVABLE)
    yield ABOUT_PLACEHOLDERS.rstrip()
    yield from _indented([f"$(cloud.{name})" for name in OF_CLOUD])


def _indented(names: Iterable[str]) -> Iterator[str]:
    text = ", ".join(name.replace(" ", "\0") for name in names)
    lines = fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    yield lines.replace("\0", " ")


def _verbs_by_kind() -> Iterator[str]:
    from labkit.scenario.verb import FAULT, RUNBOOK, STORY
    from labkit.scenario.verbs import VERBS

    yield ABOUT_VERBS
    kinds = {RUNBOOK: "what operators do", FAULT: "faults, and what undoes them", STORY: "the file's own"}
    for kind, what in kinds.items():
        names = ", ".join(verb.name for verb in VERBS.values() if verb.kind == kind)
        yield fill(f"{what}: {names}", WIDTH, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False)


def _invariants() -> Iterator[str]:
    from labkit.lab.invariants import RULES

    yield ABOUT_INVARIANTS
    for rule in RULES:
        yield f"\n## {rule.name}\n"
        yield fill(rule.says, WIDTH)
        for what, text in (("judged", rule.judged), ("not judged", rule.spared), ("broken by", rule.broken_by)):
            yield fill(f"{what}: {text}", WIDTH, initial_indent="    ", subsequent_indent="        ")


def _situations() -> Iterator[str]:
    from labkit.scenario.timed.situations import SITUATIONS

    yield ABOUT_SITUATIONS
    for situation in SITUATIONS.values():
        yield f"\n## {situation.name}\n"
        yield fill(situation.about, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _keys(model: type[BaseModel], indent: str) -> Iterator[str]:
    from labkit.scenario.expect_keys import ExpectPart
    from labkit.scenario.file_parts import INNER, LabPart, MatrixPart, fields_of
    from labkit.scenario.timed.timed_conditions import TIMED_PARTS

    required = {field.alias or name for name, field in model.model_fields.items() if field.is_required()}
    sections: dict[str, type[BaseModel]] = {}
    if not indent:
        sections = {"matrix": MatrixPart, "lab": LabPart, "expect": ExpectPart, **TIMED_PARTS}
    of_expect = fields_of(ExpectPart) if model in TIMED_PARTS.values() else {}
    defaults = {field.alias or name: _default_text(field) for name, field in model.model_fields.items()}
    for key, wanted in fields_of(model).items():
        if key in of_expect:
            continue
        yield f"{indent}{key}{'*' if key in required else ''}: {wanted}{defaults[key]}"
        inner = INNER.get((model, key))
        below = sections.get(key) or (inner.model if inner is not None and inner.many else None)
        if below is not None:
            yield from _keys(below, indent + "    ")


def _default_text(field: FieldInfo) -> str:
    """What a key is unless it is given, in the file's own spelling; empty where its description says it."""
    from labkit.scenario.value_types import read_duration, read_share, read_size, write_duration, write_share

    value = field.default
    if field.is_required() or value in (None, "", {}, []) or "unless given" in (field.description or ""):
        return ""
    writers = {read_duration: write_duration, read_share: write_share, read_size: "{}B".format}
    write = next((writers[item.func] for item in field.metadata if getattr(item, "func", None) in writers), str)
    return f"; {str(value).lower() if isinstance(value, bool) else write(value)} unless given"


def _unknown(what: str, name: str, known: dict[str, str]) -> str:
    from labkit.service.did_you_mean import nearest

    near = nearest(name, known)
    hint = f"did you mean {near}?" if near is not None else f"known: {', '.join(known) or 'none'}"
    return f"no {what} is called {name!r}; {hint}"
