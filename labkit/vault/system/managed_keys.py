"""Managed keys: ``sys/managed-keys/<type>/<name>``, which keys of an external store engines may use.

1. A key is written as a whole: what is not sent has its default.  Its id stays.
2. What opens the store (PIN, secret keys) is accepted and not kept: the simulated store asks for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.service import fields
from labkit.service.errors import BadRequest, NotFound
from labkit.service.key_mechanisms import (
    MAX_LABEL_CHARACTERS,
    MECHANISMS,
    STORE_KINDS,
    Mechanism,
    StoreKind,
    mechanism_named,
)
from labkit.service.record import NamedTuple
from labkit.service.routing import Form, Route
from labkit.vault import managed_keys
from labkit.vault.identifiers import uuid_text
from labkit.vault.managed_keys import ManagedKey

if TYPE_CHECKING:
    from labkit.vault.context import Context

CURVE_BITS = {"P256": 256, "P384": 384, "P521": 521}


class ManagedKeyRequest(NamedTuple):
    """The fields of a request to write a managed key."""

    kind: str
    name: str
    mechanism: str | None
    key_label: str | None
    key_id: str | None
    kms_key: str | None
    key_name: str | None
    key_bits: int
    curve: str | None
    usages: list[str] | None
    allow_generate_key: bool
    allow_replace_key: bool
    allow_store_key: bool
    any_mount: bool
    library: str | None
    slot: str | None
    token_label: str | None
    region: str | None
    vault_name: str | None
    pin: str | None
    access_key: str | None
    secret_key: str | None
    tenant_id: str | None
    client_id: str | None
    client_secret: str | None

    def __repr__(self) -> str:
        return f"ManagedKeyRequest({self.kind}/{self.name})"  # never what opens the store


SHOWN = (
    "allow_replace_key",
    "allow_store_key",
    "any_mount",
    "library",
    "slot",
    "token_label",
    "region",
    "vault_name",
)


def write_managed_key(ctx: Context, asked: ManagedKeyRequest) -> None:
    """Write a managed key; whether the store has it is looked at by who uses it."""
    kind = _kind(asked.kind)
    known = managed_keys.find(ctx.full_storage, asked.name, "")
    if known is not None and known.kind != kind.name:
        raise BadRequest(f"a managed key named {asked.name} exists already, of type {known.kind}")
    label = next((value for value in (getattr(asked, name) for name in kind.labels) if value), "")
    if not label:
        raise BadRequest(f"{' or '.join(kind.labels)} is required: it names the key in the store")
    if len(label) > MAX_LABEL_CHARACTERS:
        raise BadRequest(
            f"the key's label in the store has at most {MAX_LABEL_CHARACTERS} characters, not {len(label)}"
        )
    mechanism = _mechanism(kind, asked)
    key = ManagedKey(
        asked.name,
        kind.name,
        known.id if known else uuid_text(ctx.entropy),
        label,
        mechanism.name,
        _size_bits(mechanism, asked),
        _usages(mechanism, asked.usages),
        asked.allow_generate_key,
        tuple([(name, getattr(asked, name)) for name in SHOWN if getattr(asked, name) is not None]),
    )
    managed_keys.write(ctx.full_storage, key)


def _kind(text: str) -> StoreKind:
    if text not in STORE_KINDS:
        raise BadRequest(f"unknown type of managed key {text}; there are: {', '.join(STORE_KINDS)}")
    return STORE_KINDS[text]


def _mechanism(kind: StoreKind, asked: ManagedKeyRequest) -> Mechanism:
    text = asked.mechanism or ""
    if not text and len(kind.mechanisms) < len(MECHANISMS):
        text = "CKM_ECDSA" if asked.curve else "CKM_RSA_PKCS_PSS"
    found = mechanism_named(text)
    if found is None or found.name not in kind.mechanisms:
        allowed = ", ".join(f"{name} ({MECHANISMS[name].number:#06x})" for name in kind.mechanisms)
        raise BadRequest(f"mechanism of type {kind.name} is one of: {allowed}; got {text or 'none'}")
    return found


def _size_bits(mechanism: Mechanism, asked: ManagedKeyRequest) -> int:
    size_bits = asked.key_bits
    if asked.curve:
        size_bits = CURVE_BITS.get(asked.curve.upper().replace("-", ""), -1)
    if size_bits and size_bits not in mechanism.sizes_bits:
        sizes = ", ".join(map(str, mechanism.sizes_bits))
        raise BadRequest(f"keys of mechanism {mechanism.name} have {sizes} bits; got {asked.curve or asked.key_bits}")
    return size_bits or mechanism.sizes_bits[0]


def _usages(mechanism: Mechanism, wanted: list[str] | None) -> tuple[str, ...]:
    for usage in wanted or ():
        if usage not in mechanism.usages:
            raise BadRequest(f"usages of mechanism {mechanism.name} are: {', '.join(mechanism.usages)}; got {usage}")
    return tuple([usage for usage in mechanism.usages if not wanted or usage in wanted])


def read_managed_key(ctx: Context, kind: str, name: str) -> dict[str, Any]:
    """Return where a managed key is and what it is for."""
    store = _kind(kind)
    key = managed_keys.read(ctx.full_storage, store.name, name)
    if key is None:
        raise NotFound
    return {
        "UUID": key.id,
        "name": key.name,
        "type": key.kind,
        store.labels[0]: key.label,
        "mechanism": key.mechanism_name,
        "key_bits": key.size_bits,
        "usages": list(key.usages),
        "allow_generate_key": key.may_generate,
        **dict(key.shown),
    }


def list_managed_keys(ctx: Context, kind: str) -> dict[str, Any]:
    """Return the names of the managed keys of one type, sorted."""
    names = managed_keys.names(ctx.full_storage, _kind(kind).name)
    if not names:
        raise NotFound
    return {"keys": names}


def delete_managed_key(ctx: Context, kind: str, name: str) -> None:
    """Forget a managed key; the store keeps its key, and whoever uses it here is refused from now on."""
    managed_keys.delete(ctx.full_storage, _kind(kind).name, name)


KIND = fields.segment("kind", f"kind of the store: {', '.join(STORE_KINDS)}")
NAME = fields.name(help="name of the managed key, unique among all types")
FORM = Form(
    ManagedKeyRequest,
    (
        KIND,
        NAME,
        fields.text("mechanism", "what the key does, by name or number of PKCS #11, such as CKM_AES_GCM or 0x1087"),
        fields.text("key_label", "pkcs11: label of the key in the store"),
        fields.text("key_id", "pkcs11: id of the key in the store, where it has no label"),
        fields.text("kms_key", "awskms: the key in the store"),
        fields.text("key_name", "azurekeyvault: the key in the store"),
        fields.integer("key_bits", "size of the key, where it is generated; 0 for the mechanism's usual one", 0),
        fields.text("curve", "curve of the key, where it is generated: P256, P384 or P521"),
        fields.comma_list("usages", "what the key may be used for; all that its mechanism can, unless said"),
        fields.flag("allow_generate_key", "whether the store is asked to make the key where it has none", False),
        fields.flag("allow_replace_key", "stored and shown only", False),
        fields.flag("allow_store_key", "stored and shown only", False),
        fields.flag("any_mount", "stored and shown only: every mount may use the key", False),
        fields.text("library", "pkcs11: stored and shown only"),
        fields.text("slot", "pkcs11: stored and shown only"),
        fields.text("token_label", "pkcs11: stored and shown only"),
        fields.text("region", "awskms: stored and shown only"),
        fields.text("vault_name", "azurekeyvault: stored and shown only"),
        fields.text("pin", "pkcs11: not kept"),
        fields.text("access_key", "awskms: not kept"),
        fields.text("secret_key", "awskms: not kept"),
        fields.text("tenant_id", "azurekeyvault: not kept"),
        fields.text("client_id", "azurekeyvault: not kept"),
        fields.text("client_secret", "azurekeyvault: not kept"),
    ),
)

ROUTES = (
    Route("list", "managed-keys/<kind>/", list_managed_keys, (KIND,), "enterprise"),
    Route("list", "managed-keys/<kind>", list_managed_keys, (KIND,), "enterprise"),
    Route("write", "managed-keys/<kind>/<name>", write_managed_key, FORM, "enterprise"),
    Route("read", "managed-keys/<kind>/<name>", read_managed_key, (KIND, NAME), "enterprise"),
    Route("delete", "managed-keys/<kind>/<name>", delete_managed_key, (KIND, NAME), "enterprise"),
)
