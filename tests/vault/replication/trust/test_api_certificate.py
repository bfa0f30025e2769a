"""API certificates: what a node presents, and whom that convinces."""

from __future__ import annotations

from typing import Any

import pytest

from labkit import Lab
from labkit.keymaking import make_authority
from labkit.seeded import SeededEntropy
from labkit.vault.files import Files
from labkit.vault.replication.trust import api_certificate
from labkit.vault.replication.trust.api_certificate import AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE

NOW_NS = 1_700_000_000 * 1_000_000_000
HOUR_NS = 3_600 * 1_000_000_000
TEN_YEARS_NS = api_certificate.LIFETIME_S * 1_000_000_000
HOSTS = ("paris-1", "paris-2")
PARTIES = ("paris-1", "tokyo-1")


def files(seed: int = 1, **named: Any) -> Files:
    made = {"cluster": "paris", "hosts": HOSTS, "entropy": SeededEntropy(seed, "api"), "now_ns": NOW_NS, **named}
    return Files(made=api_certificate.files_of(**made))


def authorities(of: Files) -> tuple[str, ...]:
    return api_certificate.authorities_in(of.read(AUTHORITY_FILE) or b"")


def shown(of: Files, nonce: str = "n1", asked_by: str = "tokyo-1") -> Any:
    return api_certificate.present(of.read, nonce, asked_by).data


def judge(of: Files, trusted: tuple[str, ...], now_ns: int = NOW_NS, parties: tuple[str, str] = PARTIES) -> None:
    api_certificate.check(shown(of), "n1", parties, trusted, now_ns)


def test_the_same_seed_makes_the_same_files_and_another_seed_others():
    names = (AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE)
    one, same, other = (files(seed) for seed in (1, 1, 2))

    assert [one.read(name) for name in reversed(names)] == [same.read(name) for name in reversed(names)]
    assert all(one.read(name) != other.read(name) for name in names)


def test_what_is_presented_is_trusted_by_who_has_its_authority():
    own = files()
    judge(own, authorities(own))
    judge(own, (*authorities(files(2)), *authorities(own)), parties=("paris-2", "tokyo-1"))


@pytest.mark.parametrize("trusted", ["none", "other", "itself"])
def test_a_stranger_s_authority_is_unknown(trusted):
    own = files()
    given = {"none": (), "other": authorities(files(2)), "itself": ((own.read(CERTIFICATE_FILE) or b"").decode(),)}

    with pytest.raises(ValueError, match=r"^x509: certificate signed by unknown authority$"):
        judge(own, given[trusted])


def test_it_is_valid_from_when_it_was_made_for_ten_years_and_for_its_hosts():
    own = files()
    judge(own, authorities(own), NOW_NS + TEN_YEARS_NS)
    for at_ns in (NOW_NS - HOUR_NS, NOW_NS + TEN_YEARS_NS + HOUR_NS):
        with pytest.raises(ValueError, match="unknown authority"):
            judge(own, authorities(own), at_ns)
    with pytest.raises(ValueError, match=r"^x509: certificate is valid for paris-1, paris-2, not lima-1$"):
        judge(own, authorities(own), parties=("lima-1", "tokyo-1"))


def test_a_certificate_that_ends_before_its_authority_is_over():
    """The authority's key has a certificate for twice the time as well."""
    longer = make_authority("paris API authority", SeededEntropy(1, "api"), NOW_NS, 2 * api_certificate.LIFETIME_S)
    judge(files(), (longer.certificate,), NOW_NS + TEN_YEARS_NS)
    with pytest.raises(ValueError, match=r"^x509: certificate has expired or is not yet valid: it is 20"):
        judge(files(), (longer.certificate,), NOW_NS + TEN_YEARS_NS + HOUR_NS)


def test_what_is_no_authority_is_not_believed_though_its_key_signed_the_certificate():
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding

    (authority,) = authorities(files())
    trusted = x509.load_pem_x509_certificate(authority.encode())
    key = Ed25519PrivateKey.from_private_bytes(make_authority("x", SeededEntropy(1, "api"), NOW_NS, 60).private)
    dates = (trusted.not_valid_before_utc, trusted.not_valid_after_utc)
    plain = x509.CertificateBuilder(trusted.subject, trusted.subject, key.public_key(), 7, *dates)
    for constraints in (None, x509.BasicConstraints(ca=False, path_length=None)):
        made = plain if constraints is None else plain.add_extension(constraints, critical=True)
        pem = made.sign(key, None).public_bytes(Encoding.PEM).decode()
        with pytest.raises(ValueError, match="unknown authority"):
            judge(files(), (pem,))


def test_a_client_s_certificate_names_no_server():
    from cryptography import x509

    from labkit.keymaking import issue_client_certificate

    entropy = SeededEntropy(1)
    authority = make_authority("a", entropy, NOW_NS, 60)
    client = issue_client_certificate(authority, "tokyo", entropy, NOW_NS, 60)

    assert api_certificate._hosts_of(x509.load_pem_x509_certificate(client.certificate.encode())) == []
    assert api_certificate._hosts_of(x509.load_pem_x509_certificate(authority.certificate.encode())) == []


@pytest.mark.parametrize("change", ["nonce", "host", "signature", "certificate", "nothing", "kinds"])
def test_what_another_showed_or_altered_convinces_nobody(change):
    own, data = files(), shown(files())
    altered = {
        "nonce": lambda: shown(own, nonce="n2"),
        "host": lambda: shown(own, asked_by="lima-1"),
        "signature": lambda: {**data, "signature": "00" * 64},
        "certificate": lambda: {**data, "certificate": (files(2).read(CERTIFICATE_FILE) or b"").decode()},
        "nothing": lambda: None,
        "kinds": lambda: {"certificate": "x", "signature": "zz"},
    }[change]()

    with pytest.raises(ValueError, match=r"^tls: what was presented was not signed with the certificate's key$"):
        api_certificate.check(altered, "n1", PARTIES, authorities(own), NOW_NS)


@pytest.mark.parametrize("name", [CERTIFICATE_FILE, KEY_FILE])
@pytest.mark.parametrize("content", [b"", b"junk", b"\xff", "another"])
def test_without_a_certificate_that_its_key_fits_nothing_is_presented(name, content):
    own = files()
    own.write(name, (files(2).read(name) or b"") if content == "another" else content)
    answer = api_certificate.present(own.read, "n1", "tokyo-1")

    assert (answer.status, answer.errors) == (500, [api_certificate.NOT_PRESENTED])


def test_no_other_kind_of_key_is_used():
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.derive_private_key(7, ec.SECP256R1())
    own = files()
    own.write(
        KEY_FILE, key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.BestAvailableEncryption(b"p"))
    )
    assert not api_certificate.present(own.read, "n1", "tokyo-1").ok
    own.write(KEY_FILE, key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()))
    assert not api_certificate.present(own.read, "n1", "tokyo-1").ok


def test_the_files_of_a_lab_s_clusters_differ_and_outlive_a_restore_and_a_branch():
    lab = Lab.pair(seed=7)
    pem = {name: lab[name].files.read(AUTHORITY_FILE) for name in ("paris", "tokyo")}

    assert lab["paris"].files.read(KEY_FILE) != lab["tokyo"].files.read(KEY_FILE)
    assert pem["paris"] != pem["tokyo"] != Lab.pair(seed=8)["tokyo"].files.read(AUTHORITY_FILE)
    for other in (Lab.restore(lab.snapshot()), lab.branch("x"), Lab.pair(seed=7)):
        assert {name: other[name].files.read(AUTHORITY_FILE) for name in pem} == pem
    assert lab.snapshot().state["files"] == {"paris": {}, "tokyo": {}}, "made again from the seed"
