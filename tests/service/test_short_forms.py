"""Short forms: each is one request, with the root token unless another is given."""

from __future__ import annotations

import pytest

from labkit.service.message import respond
from labkit.service.short_forms import ShortForms


class Recorder(ShortForms):
    """Answers every request with 200 and keeps what was sent."""

    root_token = "root"

    def __init__(self):
        self.sent = []

    def request(self, method, path, json=None, headers=None):
        self.sent.append((method, path, json, headers))
        return respond(200)


@pytest.mark.parametrize("form", ["get", "list", "delete"])
def test_forms_without_a_body(form):
    recorder = Recorder()
    getattr(recorder, form)("secret/a", headers={"X": "1"})

    assert recorder.sent == [(form.upper(), "secret/a", None, {"X": "1", "X-Vault-Token": "root"})]


@pytest.mark.parametrize("form", ["post", "put"])
def test_forms_with_a_body(form):
    recorder = Recorder()
    getattr(recorder, form)("secret/a", {"b": 1}, token="other")

    assert recorder.sent == [(form.upper(), "secret/a", {"b": 1}, {"X-Vault-Token": "other"})]


def test_a_patch_is_marked_as_a_merge_patch():
    recorder = Recorder()
    recorder.patch("secret/a", {"b": 1}, token="")

    assert recorder.sent == [("PATCH", "secret/a", {"b": 1}, {"Content-Type": "application/merge-patch+json"})]


def test_what_else_is_given_goes_on_to_request():
    class Patient(Recorder):
        """Takes a timeout."""

        def request(self, method, path, json=None, headers=None, *, timeout="30s"):
            self.sent.append(timeout)
            return respond(200)

    patient = Patient()
    patient.get("secret/a", timeout="2s")

    assert patient.sent == ["2s"]
    with pytest.raises(TypeError, match=r"^get: expected only token, headers, namespace, got 'timeout'$"):
        Recorder().get("secret/a", timeout="2s")
    known = "token, headers, namespace, timeout"
    with pytest.raises(TypeError, match=rf"^post: expected only {known}, got 'wrap_ttl'; it is a header: headers="):
        patient.post("secret/a", {}, wrap_ttl="60s")


@pytest.mark.parametrize("form", ["get", "post", "patch"])
@pytest.mark.parametrize("headers", [7, True, b"x", ["X"], object()])
def test_headers_are_a_mapping_or_none(form, headers):
    recorder = Recorder()
    with pytest.raises(ValueError, match="headers: expected a mapping of names to texts, got"):
        getattr(recorder, form)("secret/a", headers=headers)

    assert recorder.sent == []


def test_a_namespace_is_sent_in_its_header():
    recorder = Recorder()
    recorder.post("secret/a", {"b": 1}, namespace="team", headers={"X-Vault-Namespace": "other"})
    recorder.get("secret/a", namespace=None)

    assert recorder.sent[0][3] == {"X-Vault-Namespace": "team", "X-Vault-Token": "root"}
    assert recorder.sent[1][3] == {"X-Vault-Token": "root"}
