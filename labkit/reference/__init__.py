"""Reference: the pages that `labkit help` shows, written in Markdown beside this file or generated from tables.

1. A page is named by its topic and has entries: the rules by number, verbs and words by name, the others by section.
2. A page may list *rows*, each a name in bold and below it an indented text; these are found by any word in them.
3. What code and tests cite (`R4`, `decision D14`, `spec, Limits`) is an entry of such a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

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


ABOUT_FILES = """\
A scenario file, *.lab.yaml, is a mapping with these keys; those with * are required.  It is YAML: indented by spaces,
a space after each colon, a text with a colon in it in quotes.  `labkit new scenario NAME` writes one to begin with;
`labkit schema > scenario.schema.json` is for editors, which find it by the first line of that one.  A whole file:
    scenario: A region is lost
    about: The primary's region goes down, and an operator promotes the other cluster.
    lesson: What was acknowledged last may be lost.
    lab:
      sites: [paris, tokyo]
      links: [{between: [paris, tokyo], latency: 80ms}]
      clusters: {paris: {site: paris}, tokyo: {site: tokyo}}
      balancers: {front: {site: tokyo, use: [paris, tokyo]}}
      clients:
        writers: {site: tokyo, use: [paris, tokyo], through: front, work: [{do: put-secret, every: 500ms, from: 3s}]}
    timeline:
      - {do: replicate, primary: paris, secondary: tokyo, at: 1s}
      - {do: crash, target: paris, at: 10s}
      - {do: promote, cluster: tokyo, after: 2s}
    expect:
      primary: tokyo
      lost: {at most: 5}
      observed: {merkle_loop: {exactly: 0}}
"""

ABOUT_MANY_RUNS = """
A file is played with one seed, with many (seeds: 200), or with the combinations of a matrix, each with all its seeds:
    seeds: 200
    matrix:
      latency: [20ms, 80ms, 200ms]
      nodes: [1, 3]
      exclude: [{latency: 20ms, nodes: 1}]
    lab:
      links: [{between: [paris, tokyo], latency: $(matrix.latency)}]
$(matrix.latency) is a whole value and may stand for any text, number, true or false in lab, timeline, end, settle and
expect; exclude comes before include.  `labkit run` prints one table, with the report of the first run that is not as
expected; --seed 3 and --only latency=20ms-nodes=3 choose.  `labkit check` checks every combination.

A lab may be that of another file of the project, whole: lab: ../two-regions.lab.yaml.  The path begins at this file.
"""

ABOUT_WORK = """
Clients work at a steady rate, each on keys of its own, or with share on those that all clients of a group use:
    writers:
      share: true
      work:
        - {do: put-secret, every: 200ms, keys: 4, cas: true}
        - {do: get-secret, every: 300ms, keys: 4}
        - {do: delete-secret, every: 2s, keys: 4}
    auditors: {site: tokyo, use: [tokyo], share: writers, work: [{do: get-secret, every: 1s, keys: 4}]}
    apps:
      work:
        - {do: create-token, every: 1s, ttl: 30s, uses: 3}
        - {do: use-token, every: 500ms}
        - {do: revoke-token, every: 5s}
cas names the version that the client last saw in an answer, 0 before any; a get-secret shows it what others wrote.  A
refusal is final and counts as refused; after an attempt without an answer it is in doubt: that one may have written.
delete-secret deletes the newest version, every tenth time the secret with all its versions.  Tokens are those of
create-token and login: use-token looks one of them up by itself, each in turn, and spends one of its uses; one that is
refused is held no more; revoke-token ends the oldest.  Without a token neither does anything.  login is that of a
machine of the cloud at auth/cloud/, which steps of the timeline set up; without a token of its machine it is refused.
What a group got, how logins ended, and how far one secondary is behind, are keys of expect like the others:
    expect:
      clients: {writers: {in doubt: 0, latency: {at most: 2s}}, apps: {refused: {at most: 5}}}
      logins: {answered: {at least: 20}, in doubt: 0}
      lags: {tokyo: {at most: 5}}
      lag times: {tokyo: {at most: 500ms}}
"""

ABOUT_VERBS = """
A timeline is a list of steps such as {do: replicate, primary: paris, secondary: tokyo, at: 1s}.  The verbs of do, each
with its parameters and a file that uses it on a page of its own (labkit help verbs crash):"""

ABOUT_STEPS = """
A step of the timeline has do, a verb, with the verb's parameters (labkit help verbs), and may have:
    at: the instant at which it begins, such as 20s
    after: how long after the steps above it ended, such as 2s; or a step above, from whose end or beginning it counts:
        step 4, {step: 4, ended: 2s}, {step: fence, began: 2s}
    when: done or refused, for a step that is skipped unless the one written directly above, that is not beside, was
        that; or a condition, keys of expect such as {connections: {tokyo: not ready}}, for which it waits
    within: how long it waits for its condition, such as 30s; 2m unless given, then it is refused
    idle: fine, for a fault that may have no effect; else one that had none makes the verdict unknown: a cut that lost
        no message, a slow line that nothing took, a heal that changed nothing, a cloud that nobody asked
    name: a name such as fence, by which steps below refer to it
    late: ok, for a step that may begin later than written
    fails: true, or words that the refusal says, for a step that is to be refused; maybe, for one that may be: what
        happened is recorded, and the timeline goes on; not for check, luck and note

An operator does one thing after the other: a step that takes time begins when the one above it has ended, at its
instant or later.  One that begins more than 100 ms late makes the verdict unknown, unless it says late: ok.  A fault
or a note with an instant is never late: it happens then, beside what is in progress.

A wait lasts for a while, or until a condition holds: {do: wait, until: {lags: {tokyo: 0}}, within: 1m}.

At or after come first, then when.  A step that waits looks every 10 ms.  A fault, check or note that follows a named
step, or waits for a condition, happens beside what is in progress, once, and the steps below do not wait for it: with
a condition only, it looks from when the step above it begins.  With when: done, or refused, it keeps its turn.
Skipped counts as refused for the step below:
    - {do: demote, cluster: paris, fails: maybe}
    - {do: heal, when: done}
    - {do: promote, cluster: tokyo, when: {connections: {tokyo: not ready}}, within: 30s}

A check (do: check) has keys of expect and judges them at its instant; one that is not met ends the timeline.  An ask
judges its own answer (answer), and keeps values of it by name (keep): in later steps $(name) stands for one, in a text
too, and so does what operators have of a cluster: $(paris.root), its root token, $(paris.share.1), its first key share,
$(tokyo.former.share.1), before it was a secondary.  What is kept is secret: nothing that is printed shows it.

`labkit run FILE` compares what is expected with what was measured: broken ends with exit code 1, unknown with 3.
Unknown means that there was no occasion to judge, such as a recovery time without a promotion, or that a fault had no
effect: step 4: had no effect (flap between paris and tokyo met no message).  A skew by whose clock nothing was decided
is listed and not judged: no token ended by it, no login, certificate or date of a deletion was judged by it.

These invariants are expected to hold unless the file says broken (labkit help invariants):"""

ABOUT_OVER_TIME = """
What holds over time is written with the keys of expect, each of which is a condition: true, false, or not known:
    always:
      - {lag: {at most: 200}, from: 5s}
      - {invariants: {one primary: held}, name: no split brain}
    eventually:
      - {roots: equal, within: 15s, after: step 6}
    leads to:
      - {if: {connections: {tokyo: not ready}}, then: {connections: {tokyo: ready}}, within: 40s}
    sometimes:
      - {observed: {merkle_sync: {at least: 1}}}
    covers: [takeover, merkle-diff to merkle-sync]

always is broken where it is false once, and the instant is said; unknown where it was never judged.  eventually is
broken where it is still false when its window closes; unknown where that never opened, or the file ended inside it.
leads to is broken where an answer is missing when its window closes, counted from when its if came to hold; unknown
where one is still owed at the end, or none was ever asked for.  sometimes is broken where it is true in none of the
runs of a file, unknown where none could judge it; covers is unknown where none reached a situation.

A condition is judged whenever something is reported that can change it, and when its window opens or closes; lag time
also every 100 ms, roots only where every secondary is level and when a window closes, differing only when a window
closes.  A window opens at the beginning, unless from or after says otherwise, and closes at the end.
"""

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
    """The rows that contain a word, below the title of their section."""
    wanted = " ".join(word.lower().split())
    for title, section in entries(topic).items():
        rows = [text for _, text in _rows(section) if wanted in " ".join(text.lower().split())]
        if rows and wanted:
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
