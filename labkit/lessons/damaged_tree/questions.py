"""Questions: which damage the roots show, and how often a rotten value opens after a reindex of the primary."""

from __future__ import annotations

from typing import Any

from labkit.front.lab import Lab
from labkit.lessons.damaged_tree.orders import PAIR, unreadable
from labkit.lessons.plan import Question
from labkit.lessons.worlds import branched, play

LAYERS = ("root", "subtree", "page", "subpage", "storage")


def lacks_pair(lab: Lab) -> str:
    """Say what is missing before damage can be tried in copies of the lab."""
    if ("paris", "tokyo") not in lab.queries.streaming_pairs():
        return "In this lab tokyo does not follow paris yet: run the cell above first."
    if lab.trace.select("fault"):
        return "Something failed in this lab already: run the cell above again, which makes a new one."
    return ""


def differing(lab: Lab) -> dict[str, bool]:
    """Return for each layer whether the roots differ a second after its damage, each in a branch."""
    found = {}
    for layer in LAYERS:
        branch = branched(lab)
        branch.corrupt("tokyo", layer=layer)
        branch.run("1s")
        found[layer] = branch["paris"].root != branch["tokyo"].root
    return found


def why_one(lab: Lab) -> str:
    """Explain why damage below the root leaves the root as it was."""
    shown = [layer for layer, differs in differing(lab).items() if differs]
    return (
        f"The roots differ where this was damaged: {', '.join(shown) or 'nowhere'}. A tree is computed again where "
        "something is written: from the value up to the root, along one branch. All else stays as it is, so a "
        "damaged page lies there unread, and the root above it still says what it said before. With the root a "
        "heartbeat brings the digests of both subtrees: so tokyo notices a damaged one by itself, compares, finds no "
        "page that differs, and says that a tree is damaged. Of a rotten value even "
        "a Merkle check says nothing: the tree still stands for what was written, and only a reader of the value "
        "notices."
    )


def damaged_in_turn(lab: Lab) -> Any:
    """Return a run in which one layer after another is damaged, two seconds apart, and stays so, the root last."""
    branch = branched(lab)
    for layer in reversed(LAYERS):
        branch.corrupt("tokyo", layer=layer)
        branch.run("2s")
    return play(branch)


def lacks_reindex(lab: Lab) -> str:
    """Say what is missing before the copies can be counted."""
    if not lab.trace.select("fault", verb="corrupt", target="paris"):
        return "In this lab nothing of paris is damaged yet: run the cell above first."
    if not lab.trace.select("observed", node="paris-1", what="reindexed"):
        return "In this lab paris is not reindexed yet: run the cell above first."
    if lab["paris"].root != lab["tokyo"].root:
        return "tokyo is still comparing: let some seconds pass first."
    return ""


def whole(lab: Lab) -> int:
    """Return in how many clusters every order opens."""
    return sum(not paths for paths in unreadable(lab).values())


def why_none(lab: Lab) -> str:
    """Explain how the damage reached the good copy."""
    counted = lab["paris"].status().get("reindex_damaged_values", 0)
    return (
        f"The roots are equal, and the status of paris counts {counted} value that did not open. A reindex makes the "
        "tree true to the store. The store held a rotten value, so the new tree of paris stood for that. tokyo "
        "compared, found one key that differed, and fetched it from its primary. A reindex makes equal; it does not "
        "make right."
    )


DIFFER = Question(
    name="differ",
    asks="In five copies of this lab one layer of tokyo is damaged: the root, a subtree, a page, a subpage, a stored "
    "value. In how many of the five do the roots of paris and tokyo differ a second later?",
    least=0,
    most=len(LAYERS),
    measure=lambda lab: sum(differing(lab).values()),
    needs=lacks_pair,
    why=why_one,
    replies={
        5: "All five would differ if a change went up to the root by itself. Digests are kept, and computed again "
        "where something is written.",
        4: "Four would differ if each layer were checked against the one below. Nothing checks until somebody asks.",
        2: "Root and subtrees are both compared, that is two. But a root is kept like the rest: a subtree that is "
        "damaged leaves it as it was.",
        0: "None would differ if damage were always silent. The root itself is what both compare first.",
    },
    otherwise="What is below the root gets into it only where a write passes. Until then it says what it said before.",
    look="Here the five are damaged one after another, two seconds apart, from the stored value up to the root, and "
    "stay damaged. Press Later in the player from one to the next, and read what it says of the tree of tokyo. After "
    "the subtree tokyo compares by itself: it finds the page that was damaged before, and no value to fetch. Equal "
    "contents under unequal roots are called a merkle loop, which is reported once. Pages have two hexadecimal digits "
    "there.",
    draw=damaged_in_turn,
)
COPIES = Question(
    name="copies",
    asks="A stored order rots in paris, the primary; tokyo has a good copy. An operator reindexes paris, and tokyo "
    "follows. In how many of the two clusters do all orders open in the end?",
    least=0,
    most=len(PAIR),
    measure=whole,
    needs=lacks_reindex,
    why=why_none,
    replies={
        1: "One would be left if a secondary kept what it has. It takes over what its primary's tree says.",
        2: "Two would be left if repair looked for the good copy. A reindex reads one store only: its own.",
    },
    otherwise="There are two clusters in this lab.",
    look="Press Later in the player until tokyo compares trees: which page differs, and what does tokyo ask for?",
    draw=play,
)
