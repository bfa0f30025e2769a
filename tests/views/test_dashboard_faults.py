"""The forms of faults: each is one call of a verb, and the line that is shown does the same."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.lab.fault_verbs import FaultVerbs
from labkit.views.dashboard_faults import LAYERS_UPWARDS, LINE_FAULTS, NODE_FAULTS, FaultForm, act, form_of


class Written:
    """Faults that write down what is called."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, verb: str) -> Any:
        return lambda *given, **named: self.calls.append((verb, given, named))


@pytest.mark.parametrize("form", [*NODE_FAULTS, *LINE_FAULTS], ids=lambda form: form.words)
def test_the_line_and_the_call_are_the_same(form: FaultForm):
    called: Any = Written()
    written: Any = Written()
    targets = ("paris", "tokyo") if form in LINE_FAULTS else ("paris-1",)
    for each in (form.make(called, *targets), form.undo(called, *targets)):
        each.call()
        exec(each.line, {"lab": written})

    assert called.calls == written.calls
    assert [verb for verb, _, _ in called.calls] == [form.verb, form.undoing]
    assert all(hasattr(FaultVerbs, verb) for verb in (form.verb, form.undoing))


def test_every_form_is_found_by_its_words():
    for forms in (NODE_FAULTS, LINE_FAULTS):
        assert [form_of(forms, form.words) for form in forms] == list(forms)
        assert len({form.words for form in forms}) == len(forms)


@pytest.mark.parametrize("layer", LAYERS_UPWARDS)
def test_every_layer_can_be_corrupted(layer):
    lab = Lab.pair(seed=7)
    lab.replicate("paris", "tokyo")
    done = act(lab.faults, "corrupt", ("tokyo",), {"layer": layer})
    done.call()
    assert done.line == f'lab.corrupt("tokyo", layer="{layer}")'
    assert lab.trace.select("fault", verb="corrupt", target="tokyo")


PAIRS = {
    "crash_in_commit": "restart",
    "skew": "correct",
    "impersonate": "expose",
    "slow": "restore_links",
    "lose": "restore_links",
    "duplicate": "restore_links",
    "flap": "steady",
}


def test_each_fault_is_undone_by_its_own_verb():
    assert all(PAIRS[form.verb] == form.undoing for form in (*NODE_FAULTS, *LINE_FAULTS))
