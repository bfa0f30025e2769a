"""Exercise five_reasons: reasons are those of the audit file, each request once; who passed leaves a token behind."""

from __future__ import annotations

from labkit.lessons.judging import judge
from labkit.lessons.machine_logins.five_reasons import FIVE_REASONS, SHOWN, by_claims, look, start
from labkit.lessons.machine_logins.machines import AUDIT, five_tries, login, reasons, unread


def test_at_the_start_there_is_nothing_to_see():
    assert look(start()) == ((), (), 0, True, 0)


def test_five_tokens_have_five_reasons():
    vault = start()
    by_claims(vault)

    assert look(vault).new == ("early", "issued_later", "issuer", "missing_claim", "tenant")
    login(vault, "web-1")
    assert look(vault).passed == 1


def test_the_five_of_the_lesson_are_known_already():
    vault = start()
    five_tries(vault)

    assert set(reasons(vault)) == set(SHOWN)
    assert look(vault)[:2] == ((), SHOWN)
    assert judge(FIVE_REASONS, (vault,)).seen == f"0 so far: none; known from the lesson: {', '.join(SHOWN)}"


def test_logins_that_came_to_no_check_are_named_and_do_not_count():
    vault = start()
    login(vault, "db-1")
    login(vault, "web-1", role="none")
    login(vault, "web-1", jwt="one.part")
    vault.post("sys/mounts", {})

    assert unread(vault) == 2
    assert judge(FIVE_REASONS, (vault,)).seen == (
        "0 so far: none; 2 more never came to a check, as their error has no `permission denied`; "
        "known from the lesson: resource_group"
    )


def test_a_login_that_passed_is_said_first():
    vault = start()
    login(vault, "web-1")

    assert judge(FIVE_REASONS, (vault,))[1:3] == ("nobody passed", "1 login passed, and may use what the role gives")


def test_a_line_that_is_copied_into_the_file_is_no_request():
    vault = start()
    login(vault, "db-1")
    line = (vault.files.read(AUDIT) or b"").splitlines()[-1]
    vault.files.append(AUDIT, line.replace(b"resource_group", b"early") + b"\n")

    assert reasons(vault) == ["resource_group"]
