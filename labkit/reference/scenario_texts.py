"""Scenario texts: what the page of scenario files says between its lists of keys and verbs."""

from __future__ import annotations

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
        - {do: login, every: 2s, by: approle, role_id: shop, secret_id: rehearsal-only}
        - {do: login, every: 2s, by: userpass, user: ada, password: rehearsal-only}
cas names the version that the client last saw in an answer, 0 before any; a get-secret shows it what others wrote.  A
refusal is final and counts as refused; after an attempt without an answer it is in doubt: that one may have written.
delete-secret deletes the newest version, every tenth time the secret with all its versions.  Tokens are those of
create-token and login: use-token looks one of them up by itself, each in turn, and spends one of its uses; one that is
refused is held no more; revoke-token ends the oldest.  Without a token neither does anything.  login is that of a
machine of the cloud at auth/cloud/, without a token of its machine it is refused; by: approle and by: userpass need no
cloud.  Steps of the timeline set up the method, with its roles, or users, and ids that are chosen in the file.
What a group got, how logins ended, and how far one secondary is behind, are keys of expect like the others:
    expect:
      clients: {writers: {in doubt: 0, latency: {at most: 2s}}, apps: {refused: {at most: 5}}}
      logins: {answered: {at least: 20}, in doubt: 0}
      lags: {tokyo: {at most: 5}}
      lag times: {tokyo: {at most: 500ms}}
"""

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

ABOUT_OBSERVED = """
What nodes observe, and observed of expect counts:
"""

ABOUT_PLACEHOLDERS = """
What stands for a value, in the requests of steps:
    $(matrix.NAME), a value of the key matrix; in lab, end, settle and expect too
    $(NAME), what keep of an ask or a runbook above named so
    $(CLUSTER.root), $(CLUSTER.share.1) and so on: what operators have of a cluster now
    $(CLUSTER.former.root), $(CLUSTER.former.share.1) and so on: what they had before it became a secondary
and, in a lab with a cloud, what operators have of that:
"""
