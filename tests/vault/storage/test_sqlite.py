"""The store on SQLite: its file is one store's, survives kills at any instant, and what is wrong with it is said."""

from __future__ import annotations

import resource
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from labkit import Vault
from labkit.vault.storage import StoreError
from labkit.vault.storage.sqlite import SqliteStorage

ROOT = str(Path(__file__).resolve().parents[3])


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own; it compiles nothing to disk, where its limits would cut files short."""
    begin = f"import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {ROOT!r})"
    program = [sys.executable, "-c", f"{begin}\n{code}", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.fixture
def path(tmp_path):
    """Where a file can be made."""
    return tmp_path / "lab.db"


# ---- one store per file

OPEN_IT = """
from labkit.vault.storage import StoreError
from labkit.vault.storage.sqlite import SqliteStorage
try:
    SqliteStorage(sys.argv[1])
except StoreError as error:
    print(error)
else:
    print("opened")
"""


@pytest.mark.slow
def test_a_file_that_is_open_is_refused_here_and_in_another_process(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"1"}, 0)
        for _ in range(2):
            with pytest.raises(StoreError, match=r"lab\.db is open already"):
                SqliteStorage(path)
            assert "lab.db is open already" in run(OPEN_IT, path).stdout
        storage.apply({"a": b"2"}, 0)
    assert run(OPEN_IT, path).stdout == "opened\n"
    with closing(SqliteStorage(path)) as storage:
        assert storage.get("a") == b"2"


def test_a_file_is_free_again_when_its_process_was_killed(path):
    holds = """
import os
from labkit.vault.storage.sqlite import SqliteStorage
storage = SqliteStorage(sys.argv[1])
storage.apply({"a": b"1"}, 0)
os.kill(os.getpid(), 9)
"""
    assert run(holds, path).returncode == -signal.SIGKILL
    with closing(SqliteStorage(path)) as storage:
        assert storage.get("a") == b"1"
        assert "open already" in run(OPEN_IT, path).stdout, "a file left in write-ahead mode is locked too"


RACE = """
import subprocess
opener = '''
import sys
sys.path.insert(0, sys.argv[2])
from labkit.vault.storage import StoreError
from labkit.vault.storage.sqlite import SqliteStorage
try:
    storage = SqliteStorage(sys.argv[1])
    print("opened", flush=True)
except StoreError:
    print("refused", flush=True)
sys.stdin.read()
'''
program = [sys.executable, "-c", opener, sys.argv[1], sys.path[0]]
openers = [subprocess.Popen(program, stdin=-1, stdout=-1, text=True) for _ in range(3)]
print(*sorted(opener.stdout.readline().strip() for opener in openers))
for opener in openers:
    opener.stdin.close()
    opener.wait()
"""


@pytest.mark.slow
def test_of_processes_that_make_one_file_at_once_one_gets_it(path):
    for _ in range(3):
        assert run(RACE, path).stdout == "opened refused refused\n"


def test_a_new_file_is_its_owner_s_only(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"1"}, 0)
        modes = {stat.S_IMODE(made.stat().st_mode) for made in path.parent.iterdir()}

    assert modes == {0o600}


# ---- transactions


def test_a_failed_transaction_leaves_nothing(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"0"}, 0)
        with pytest.raises(StoreError, match="nothing was changed"):
            storage.apply({"a": None, "b": object()}, 0)  # type: ignore[dict-item]  # a value that cannot be stored
        assert (storage.keys(), storage.get("a")) == (["a"], b"0")
        storage.apply({"a": b"1"}, 0)
        assert storage.get("a") == b"1"


def test_a_term_is_kept(path):
    with closing(SqliteStorage(path)) as storage:
        storage.claim(7)
    with closing(SqliteStorage(path)) as storage, pytest.raises(RuntimeError, match="term 6 is over"):
        storage.apply({"a": b"1"}, 6)


def test_a_folder_is_listed_once_and_its_names_are_sorted(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply(dict.fromkeys(("a/b/1", "a/b/2", "a/c", "a/b", "a/b!", "a/d/e/f", "b"), b""), 0)

        assert storage.list("a/") == ["b", "b!", "b/", "c", "d/"]
        assert storage.list("a/b/") == ["1", "2"]
        assert storage.list("") == ["a/", "b"]
        assert storage.list("a/none/") == []


def test_a_list_takes_one_query_and_one_more_per_folder(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply(dict.fromkeys([f"a/{number:03}" for number in range(500)], b""), 0)
        storage.apply(dict.fromkeys([f"a/{name}/{number}" for name in "xy" for number in range(500)], b""), 0)
        queries: list[str] = []
        storage._connection.set_trace_callback(queries.append)
        assert len(storage.list("a/")) == 502
        assert len(queries) == 3
        assert storage.list("a/x/") == sorted(map(str, range(500)))
        assert len(queries) == 4


def test_facts_are_no_entries(path):
    with closing(SqliteStorage(path)) as storage:
        storage.set_up({"a": b"1"}, {"name": b"3"})
        assert (storage.fact("name"), storage.fact("other")) == (b"3", None)
        assert storage.keys() == ["a"]


def test_no_value_is_read_again_while_it_is_cached(path, monkeypatch):
    monkeypatch.setattr("labkit.vault.storage.sqlite.MAX_CACHED_VALUES", 3)
    with closing(SqliteStorage(path)) as storage:
        storage.apply({str(number): bytes([number]) for number in range(9)}, 0)
        for _ in range(2):
            assert [storage.get(str(number)) for number in range(9)] == [bytes([number]) for number in range(9)]
            assert len(storage._cached) <= 3


def test_a_key_without_a_value_is_looked_up_once_until_it_is_written(path, monkeypatch):
    monkeypatch.setattr("labkit.vault.storage.sqlite.MAX_ABSENT", 3)
    asked: list[str] = []
    row = SqliteStorage._row

    def noting(self: SqliteStorage, query: str, values: tuple[str, ...]) -> object:
        asked.append(values[0])
        return row(self, query, values)

    monkeypatch.setattr(SqliteStorage, "_row", noting)
    with closing(SqliteStorage(path)) as storage:
        asked.clear()
        assert [storage.get("a") for _ in range(3)] == [None] * 3
        storage.apply({"a": b"1"}, 0)
        assert (storage.get("a"), asked) == (b"1", ["a"])
        storage._cached.clear()
        assert (storage.get("a"), asked) == (b"1", ["a", "a"])
        storage.apply({"a": None}, 0)
        assert [storage.get("a") for _ in range(2)] == [None] * 2
        for number in range(9):
            assert storage.get(str(number)) is None
            assert len(storage._absent) <= 3


def test_what_could_not_be_written_is_still_absent(path):
    with closing(SqliteStorage(path)) as storage:
        assert storage.get("a") is None
        full(storage)
        with pytest.raises(StoreError):
            storage.apply({"a": b"1" * 100_000}, 0)
        assert storage.get("a") is None


def full(storage: SqliteStorage) -> None:
    """Leave no page to write to, as on a full disk."""
    connection = storage._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()


def test_a_full_disk_at_a_commit_is_a_500_that_changes_nothing(path):
    """Decision C10; it is over when there is space again."""
    with closing(Vault.open(str(path))) as vault:
        assert vault.post("secret/data/a", {"data": {"x": 1}}).ok
        storage = vault.core.storage
        assert isinstance(storage, SqliteStorage)
        full(storage)
        before = {key: storage.get(key) for key in sorted(storage.keys())}
        answer = vault.post("secret/data/a", {"data": {"x": "y" * 20_000}})

        assert (answer.status, len(answer.errors)) == (500, 1)
        assert "lab.db has no space left" in answer.errors[0]
        assert {key: storage.get(key) for key in sorted(storage.keys())} == before
        assert vault.get("secret/data/a").data["data"] == {"x": 1}
        storage._connection.execute("PRAGMA max_page_count = 1000000").fetchall()
        assert vault.post("secret/data/a", {"data": {"x": "y" * 20_000}}).ok


FORKED = """
import os
from labkit.vault.storage import StoreError
from labkit.vault.storage.sqlite import SqliteStorage
storage = SqliteStorage(sys.argv[1])
storage.apply({"a": b"1"}, 0)
if os.fork() == 0:
    for ask in (lambda: storage.get("b"), lambda: storage.list(""), lambda: storage.apply({"a": b"2"}, 0)):
        try:
            ask()
        except StoreError as error:
            print("before this process was forked" in str(error), flush=True)
    storage.close()
    sys.exit(0)
os.wait()
storage.apply({"b": b"2"}, 0)
print(storage.list(""))
"""


def test_a_forked_child_is_refused_and_leaves_the_file_to_its_parent(path):
    seen = run(FORKED, path)

    assert (seen.stdout.splitlines(), seen.stderr) == (["True"] * 3 + ["['a', 'b']"], "")
    with closing(SqliteStorage(path)) as storage:
        assert (storage.get("a"), storage.get("b")) == (b"1", b"2")


def test_a_file_that_is_another_is_not_written(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"1"}, 0)
        path.rename(path.with_name("moved.db"))
        with pytest.raises(StoreError, match=r"lab\.db was moved, deleted or replaced .* nothing was changed$"):
            storage.apply({"a": b"2"}, 0)
        assert storage.get("a") == b"1"
        path.with_name("moved.db").rename(path)
        storage.apply({"a": b"3"}, 0)
        assert storage.get("a") == b"3"


# ---- files that cannot be used


def refused(path) -> str:
    """Return what is said of a file that cannot be opened: one line that names it."""
    with pytest.raises(StoreError) as refusal:
        Vault.open(str(path))
    text = str(refusal.value)
    assert str(path) in text
    assert "\n" not in text
    return text


def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path):
    path.write_bytes(b"not a database, and longer than its header of one hundred bytes " * 40)
    before = path.read_bytes()

    assert "is not a labkit file" in refused(path)
    assert path.read_bytes() == before


def test_a_file_whose_rows_cannot_be_its_tables_is_refused(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"1"}, 0)
    with closing(sqlite3.connect(path)) as connection:
        (schema,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries'").fetchone()
        for text in (schema.replace(" NOT NULL", ""), schema):
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'entries'", (text,))
            connection.execute("PRAGMA writable_schema = RESET")
            if text != schema:
                connection.execute("UPDATE entries SET value = NULL")
            connection.commit()

    with pytest.raises(StoreError, match=r"lab\.db is damaged: restore it from a copy, or name another file$"):
        SqliteStorage(path)


@pytest.mark.parametrize("statement", ["CREATE TABLE notes (text)", "CREATE TABLE entries (key TEXT)"])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    before = path.read_bytes()

    assert "database of another program" in refused(path)
    assert path.read_bytes() == before


def test_a_folder_and_a_missing_folder_are_refused(path):
    assert "cannot be opened" in refused(path.parent)
    assert "in a folder that exists" in refused(path.parent / "none" / "lab.db")


def test_a_read_only_file_is_refused(path, monkeypatch):
    Vault.open(str(path)).close()
    connect = sqlite3.connect

    def read_only(name, **settings):
        return connect(f"file:{name}?mode=ro", uri=True, **settings)  # what a user without the right to write gets

    monkeypatch.setattr(sqlite3, "connect", read_only)
    assert "cannot be written" in refused(path)


def test_a_full_disk_at_the_first_open_is_refused_and_the_file_opens_later(path):
    fill = """
import resource, signal
from labkit import Vault
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    Vault.open(sys.argv[1])
except Exception as error:
    print(type(error).__name__, error)
"""
    assert resource.RLIMIT_FSIZE is not None
    for size_bytes in (0, 4_096, 9_000, 14_000):
        said = run(fill, path, size_bytes)
        assert said.stdout.startswith(f"StoreError {path} "), (size_bytes, said)
    with closing(Vault.open(str(path))) as vault:
        assert vault.post("secret/data/a", {"data": {"x": 1}}).ok


def opened_or_refused(path) -> Vault | None:
    """Open a file, or hold that its refusal names it."""
    try:
        return Vault.open(str(path))
    except StoreError as error:
        refusal = str(error)
    assert str(path) in refusal
    return None


def test_altered_bytes_anywhere_are_refused_or_answered_never_raised(path, tmp_path):
    """One byte of the file is altered, here and there: it opens or is refused, and each request has an answer."""
    with closing(Vault.open(str(path))) as vault:
        for number in range(40):
            vault.post(f"secret/data/{number}", {"data": {"x": number}})
        vault.post("transit/keys/k", {"auto_rotate_period": "2h"})
    sound, opened = path.read_bytes(), 0
    for position in [*range(0, 128, 9), *range(128, len(sound), 499)]:
        altered = bytearray(sound)
        altered[position] ^= 0x41
        other = tmp_path / "altered.db"
        for left in tmp_path.glob("altered.db*"):
            left.unlink()
        other.write_bytes(bytes(altered))
        reopened = opened_or_refused(other)
        if reopened is None:
            continue
        opened += 1
        with closing(reopened) as vault:
            vault.tick()
            assert vault.get("sys/health", token="").status == 200
            assert vault.get("sys/seal-status", token="").status == 200
            for ask in (vault.list("secret/metadata"), vault.get("secret/data/7"), vault.get("sys/mounts")):
                assert ask.status in (200, 403, 404, 500)  # 403: the name of the token's record
                assert ask.status != 500 or ask.errors
    assert opened > 10


# ---- kills

KILLS = """
import os, random, signal, time
from labkit import Vault
from labkit.vault.storage.sqlite import SqliteStorage
path, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dice, words, judged, lost = random.Random(seed), [], 0, 0

def write(pipe, first):
    vault = Vault.open(path)
    for number in range(first, first + 100_000):
        if vault.post(f"secret/data/{number}", {"data": {"n": number}}).ok:
            os.write(pipe, b"%d " % number)
        if number % 5 == 4:
            os.write(pipe, b"?%d " % (number - 2))  # from now on it may be there or not
            if vault.delete(f"secret/metadata/{number - 2}").status == 204:
                os.write(pipe, b"-%d " % (number - 2))

for turn in range(rounds):
    if turn % 10 == 0:  # the first open is under way for some of the kills
        words = []
        for name in (path, path + "-wal", path + "-shm", path + "-journal"):
            if os.path.exists(name):
                os.unlink(name)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write(writer, turn * 100_000 + 1)
        finally:
            os._exit(1)
    os.close(writer)
    time.sleep(dice.uniform(0, 0.03 if turn % 10 == 0 else 0.12))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the writer ended by itself"
    with os.fdopen(reader) as pipe:
        words += [word for word in pipe.read().split(" ") if word]
    vault = Vault.open(path)
    assert vault.core.storage._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    asked, gone = ({word[1:] for word in words if word[0] == sign} for sign in "?-")
    stays = [word for word in words if word.isdigit() and word not in asked]
    lost += sum(vault.get(f"secret/data/{name}").status != 200 for name in stays)
    lost += sum(vault.get(f"secret/data/{name}").status != 404 for name in gone)
    vault.close()
    judged += len(stays) + len(gone)
print(rounds, judged, lost)
"""


@pytest.mark.parametrize("rounds", [12, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_no_acknowledged_write_is_lost_when_the_writer_is_killed(path, rounds):
    """A process that writes is killed at any instant, its first open too; every file opens, every write is there."""
    killed = run(KILLS, path, rounds, 20260)
    assert killed.returncode == 0, killed.stderr
    assert killed.stdout.split()[0] == str(rounds)
    assert killed.stdout.split()[2] == "0", "writes were lost"


KILL_AT = """
import os, signal
from labkit import Vault
from labkit.vault.storage import sqlite
connect = sqlite._connect

def open_until(path, statement):
    seen = 0
    def count(text):
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)
    def traced(name):
        if statement == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        connection = connect(name)
        connection.set_trace_callback(count)
        return connection
    sqlite._connect = traced
    return Vault.open(path)

for statement in range(1_000):
    path = f"{sys.argv[1]}-{statement}"
    child = os.fork()
    if child == 0:
        open_until(path, statement)
        os._exit(0)
    killed = os.waitpid(child, 0)[1] == signal.SIGKILL
    with_token = Vault.open(path)
    assert with_token.post("secret/data/a", {"data": {"x": 1}}).ok
    assert with_token.get("auth/token/lookup-self").data["policies"] == ["root"]
    with_token.close()
    if not killed:
        break
print(statement)
"""


@pytest.mark.slow
def test_a_kill_at_any_statement_of_the_first_open_leaves_a_file_that_opens(path):
    """The credentials are stored with the data: never one without the other."""
    killed = run(KILL_AT, path)
    assert killed.returncode == 0, killed.stderr
    assert int(killed.stdout) > 15, "statements of a first open"


KILL_IN_A_WRITE = """
import os, signal
from labkit import Vault

def write_until(path, statement):
    seen = 0
    def count(text):
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)
    vault = Vault.open(path)
    vault.core.storage._connection.set_trace_callback(count)
    return vault.post("secret/data/a", {"data": {"x": 2}})

path = sys.argv[1]
first = Vault.open(path)
assert first.post("secret/data/a", {"data": {"x": 1}}).ok
first.close()
for statement in range(1, 1_000):
    child = os.fork()
    if child == 0:
        answered = write_until(path, statement)
        os._exit(0 if answered.ok else 1)
    ended = os.waitpid(child, 0)[1]
    vault = Vault.open(path)
    read = vault.get("secret/data/a").data
    version, value = read["metadata"]["version"], read["data"]["x"]
    assert value == (1 if version == 1 else 2), "a version is whole"
    kept = vault.get("secret/metadata/a").data["versions"]
    assert len(kept) == min(version, 10), "what is listed is what was written"
    if ended == 0:
        break
    assert ended == signal.SIGKILL
    assert vault.post("secret/data/a", {"data": {"x": 2}}).ok
    vault.close()
print(statement, version)
"""


@pytest.mark.slow
def test_a_kill_at_any_statement_of_a_write_leaves_all_of_it_or_nothing(path):
    killed = run(KILL_IN_A_WRITE, path)
    assert killed.returncode == 0, killed.stderr
    assert int(killed.stdout.split()[0]) > 4, "statements of a write"


KILL_IN_A_FLUSH = """
import os, signal
from labkit import Vault
from labkit.vault.replication.tree.journal import Journal
from labkit.vault.replication.tree.merkle import MerkleTree, classify
from labkit.vault.replication.tree.tree_nodes import is_corrupted
from labkit.vault.storage.sqlite import SqliteStorage

def work_until(path, statement):
    seen = 0
    def count(text):
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)
    storage = SqliteStorage(path)
    journal = Journal(storage)
    journal.switch_on()
    storage._connection.set_trace_callback(count)
    for n in range(3):
        journal.commit({"logical/a": b"%d" % n, "logical/b": None if n else b"b", "token/c": b"%d" % n}, 0)

SqliteStorage.flush_entries = 2
for statement in range(1, 1_000):
    path = f"{sys.argv[1]}-{statement}"
    child = os.fork()
    if child == 0:
        work_until(path, statement)
        os._exit(0)
    killed = os.waitpid(child, 0)[1] == signal.SIGKILL
    storage = SqliteStorage(path)
    journal = Journal(storage)
    journal.switch_on()
    held = [(key, storage.get(key)) for key in storage.keys() if classify(key)]
    built, tree = MerkleTree.build(held), journal.tree
    assert (tree.root(), tree.guard()) == (built.root(), built.guard()), statement
    assert not tree.differing_keys(built) and not is_corrupted(tree.check("")), statement
    assert len(held) in (0, 2, 3) and journal.last <= 3
    storage.close()
    if not killed:
        break
print(statement, journal.last)
"""


@pytest.mark.slow
def test_a_kill_at_any_statement_of_commits_and_a_flush_leaves_the_index_of_the_contents(path):
    """Nodes and leaves are stored together, and the tail names what they do not hold yet."""
    killed = run(KILL_IN_A_FLUSH, path)
    assert killed.returncode == 0, killed.stderr
    statements, last = map(int, killed.stdout.split())
    assert statements > 30, "three commits and a flush"
    assert last == 3


def test_a_file_from_before_leaves_were_kept_gets_their_table(path):
    with closing(SqliteStorage(path)) as storage:
        storage.apply({"a": b"1"}, 0)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE leaves")
    with closing(SqliteStorage(path)) as storage:
        assert (storage.get("a"), storage.leaf("a"), storage.leaves()) == (b"1", None, {})
        storage.apply({}, 0, {"a": b"leaf"})
    with closing(SqliteStorage(path)) as storage:
        assert storage.leaf("a") == b"leaf"


def test_a_store_shows_its_file(path):
    with closing(SqliteStorage(path)) as storage:
        assert repr(storage) == f"SqliteStorage({path})"
