"""The mount table: longest prefix, clashes, and that it reads back as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import real
from labkit.service.errors import BadRequest
from labkit.service.message import Request
from labkit.vault.context import Context
from labkit.vault.mounts import (
    CATALOGUE,
    FIXED_FIELDS,
    ROOT,
    Mount,
    MountTable,
    Namespace,
    ResolvedRoute,
    all_mounts,
    check_free,
    decode_table,
    encode_table,
    namespace_at,
    new_mount,
    read_table,
    routes_of,
    write_table,
)
from labkit.vault.mounts import MOUNTS as MOUNTS_KEY
from labkit.vault.storage.records import decode_record

NAMES = st.text("abc-_", min_size=1, max_size=6)
MOUNTS = st.builds(
    Mount,
    path=NAMES.map(lambda name: name + "/"),
    kind=st.sampled_from(["kv", "transit"]),
    uuid=NAMES,
    accessor=NAMES,
    description=st.text(max_size=5),
    options=st.lists(st.tuples(NAMES, NAMES), max_size=2).map(tuple),
    local=st.booleans(),
    max_lease_ttl_s=st.integers(0, 10**9),
)


@given(st.lists(MOUNTS, max_size=5))
def test_a_table_reads_back(mounts):
    table = MountTable(tuple(mounts))

    assert decode_table(encode_table(table)) == table


PATHS = st.lists(NAMES, min_size=1, max_size=3).map(lambda names: "/".join(names) + "/")
CHILDREN = st.builds(
    Namespace,
    path=PATHS,
    id=NAMES,
    metadata=st.lists(st.tuples(NAMES, st.text(max_size=3)), max_size=2).map(tuple),
    lock=st.just("") | NAMES,
)


@given(st.lists(MOUNTS, max_size=2), st.lists(CHILDREN, max_size=3))
def test_a_table_with_children_reads_back(mounts, children):
    table = MountTable(tuple(mounts), tuple(children))

    assert decode_table(encode_table(table)) == table


def test_a_table_without_children_is_stored_as_its_mounts():
    assert encode_table(table("a/")) == encode_table(table("a/").with_child(CHILD).without_child(CHILD.path))


CHILD = Namespace("team/sub/", "x1")


@pytest.mark.parametrize(
    ("path", "found"),
    [("sub/a", CHILD), ("sub/", CHILD), ("sub", CHILD), ("subs/a", None), ("", None), ("a/sub", None)],
)
def test_a_child_is_found_by_the_first_segment(path, found):
    held = table("a/").with_child(CHILD).with_child(Namespace("team/s/", "x2"))

    assert held.child(path) == found
    assert held.with_child(CHILD._replace(metadata=(("a", "b"),))).namespaces[1].metadata == (("a", "b"),)
    assert held.without_child("team/sub/").child(path) is None


def test_a_namespace_has_a_place_of_its_own_in_storage_and_the_root_has_none():
    assert (ROOT.prefix, ROOT.name, ROOT.path) == ("", "", "")
    assert (CHILD.prefix, CHILD.name) == ("namespace/x1/", "sub/")


@pytest.mark.parametrize("path", ["sub/", "sub/a/"])
def test_a_mount_clashes_with_a_child(path):
    with pytest.raises(BadRequest, match="path is already in use at sub/"):
        check_free(table("a/").with_child(CHILD), path)


def test_namespaces_and_their_mounts_are_found(service):
    service.post("sys/namespaces/team")
    service.post("sys/namespaces/sub", namespace="team")
    step = Context(service.core, Request("GET", ""), 0)

    assert namespace_at(step, "") is ROOT
    assert getattr(namespace_at(step, "team/sub/"), "path", None) == "team/sub/"
    assert [namespace_at(step, path) for path in ("sub/", "team/none/", "none/")] == [None] * 3
    found = [namespace.path + mount.path for namespace, mount in all_mounts(step)]
    own = ("auth/token/", "cubbyhole/", "identity/", "sys/")
    assert found[-8:] == [place + path for place in ("team/", "team/sub/") for path in own]
    assert "secret/" in found


def table(*paths):
    return MountTable(tuple(Mount(path, "kv", path, path) for path in sorted(paths)))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a/x", "a/"),
        ("a/b/x", "a/b/"),
        ("a/b", "a/b/"),
        ("a", "a/"),
        ("ab/x", None),
        ("", None),
        ("a/bc", "a/"),
    ],
)
def test_the_longest_prefix_wins(path, found):
    mount = table("a/", "a/b/", "c/").find(path)

    assert (mount.path if mount else None) == found


@pytest.mark.parametrize("path", ["a/", "a/b/c/", "a/b/", "sys/x/", "cubbyhole/"])
def test_clashing_mounts_are_refused(path):
    with pytest.raises(BadRequest):
        check_free(table("a/b/", "a/x/"), path)


def test_a_free_path_is_free():
    check_free(table("a/b/"), "a/c/")


def test_a_mount_takes_the_place_of_the_one_at_its_path():
    changed = Mount("b/", "transit", "new", "new")

    assert table("a/", "b/", "c/").with_mount(changed).mounts == (*table("a/").mounts, changed, *table("c/").mounts)
    assert table("a/", "c/").with_mount(changed).mounts == (*table("a/").mounts, changed, *table("c/").mounts)


def test_changing_a_table_makes_another():
    one = table("a/")
    two = one.with_mount(Mount("b/", "kv", "u", "x")).without("a/")

    assert [mount.path for mount in one.mounts] == ["a/"]
    assert [mount.path for mount in two.mounts] == ["b/"]


def test_local_mounts_are_stored_apart():
    assert Mount("a/", "kv", "u", "x").prefix == "logical/u/"
    assert Mount("a/", "kv", "u", "x", local=True).prefix == "local/u/"


@pytest.mark.parametrize(("kind", "version"), CATALOGUE)
def test_every_engine_has_its_table(kind, version):
    options = (("version", version),) if version else ()

    assert hasattr(routes_of(Mount("x/", kind, "u", "x", options=options)), "match")


def test_a_route_does_not_show_its_query():
    route = ResolvedRoute("read", "secret/data/a", {"token": "hvs.x"}, None, BadRequest("no"))

    assert repr(route) == str(route) == "ResolvedRoute(read secret/data/a)"


def test_a_table_is_stored_with_the_step_that_writes_it(service):
    ctx = Context(service.core, Request("GET", ""), 0)
    written = read_table(ctx.full_storage).with_mount(Mount("more/", "kv", "u", "x"))
    write_table(ctx.full_storage, written)

    assert read_table(ctx.full_storage) == written
    assert read_table(Context(service.core, Request("GET", ""), 0).full_storage).at("more/") is None
    ctx.write(MOUNTS_KEY, None)
    assert read_table(ctx.full_storage) == MountTable(())


def test_a_mount_is_found_at_exactly_its_path():
    assert table("a/", "a/b/").at("a/b/").path == "a/b/"
    assert table("a/", "a/b/").at("a/b") is None
    assert table("a/").find("") is None


def test_a_new_mount_has_identifiers_of_its_own(service):
    entropy = service.core.entropy
    engine, other = (new_mount("a/", "kv", entropy, options=(("version", "2"),)) for _ in range(2))
    method = new_mount("auth/b/", "token", entropy)

    assert engine.uuid != other.uuid
    assert engine.accessor != other.accessor
    assert (len(engine.uuid), len(engine.accessor), engine.accessor[:3]) == (36, len("kv_") + 8, "kv_")
    assert method.accessor.startswith("auth_token_")
    assert (engine.version, method.version, engine.options) == ("2", "", (("version", "2"),))


def test_auth_methods_are_mounted_below_auth_and_few_kinds_have_work_that_falls_due():
    methods = [("token", ""), ("cloud", ""), ("approle", ""), ("userpass", "")]
    assert [key for key, row in CATALOGUE.items() if row.is_auth] == methods
    due = {"transit": "key/", "approle": "accessor/"}
    assert {row.kind: row.due_folder for row in CATALOGUE.values() if row.due_work} == due
    assert tuple(Mount("a/", "kv", "u", "x"))[4:14] == ("", (), False, False, 0, 0, "default-service", "", (), ())
    assert tuple(Mount("a/", "kv", "u", "x"))[14:] == (False, (), "")


def test_later_fields_are_stored_only_where_they_are_set():
    plain = Mount("a/", "kv", "u", "kv_1")
    chosen = plain._replace(external_entropy_access=True)
    exempt = plain._replace(audit_non_hmac_request_keys=("a",))
    tuned = plain._replace(user_lockout=(5, 60, 60, 0))
    for mount, fields in ((plain, 12), (exempt, 13), (chosen, 15), (tuned, 16)):
        stored = encode_table(MountTable((mount,)))
        assert len(decode_record(stored)[0]) == fields
        assert decode_table(stored).mounts == (mount,)


def test_a_stored_mount_ends_with_the_last_of_the_later_fields_that_is_set():
    plain = new_mount("kv/", "kv", real.entropy)
    for mount, fields in (
        (plain, FIXED_FIELDS),
        (plain._replace(audit_non_hmac_request_keys=("a",)), FIXED_FIELDS + 1),
        (plain._replace(external_entropy_access=True), FIXED_FIELDS + 3),
    ):
        stored = encode_table(MountTable((mount,)))
        assert len(decode_record(stored)[0]) == fields
        assert decode_table(stored).mounts == (mount,)


def test_a_name_that_a_kind_was_enabled_as_is_stored_behind_what_older_tables_have():
    plain = Mount("auth/cloud/", "cloud", "u", "a")
    named = plain._replace(alias="azure", user_lockout=())
    stored = encode_table(MountTable((plain, named)))

    assert decode_table(stored).mounts == (plain, named)
    assert decode_table(encode_table(MountTable((plain,)))).mounts == (plain,)
    assert b"azure" not in encode_table(MountTable((plain,)))
    assert decode_table(encode_table(MountTable((named._replace(user_lockout=(1, 2)),)))).mounts[0].alias == "azure"
    assert (plain.shown_kind, named.shown_kind, named.kind) == ("cloud", "azure", "cloud")
