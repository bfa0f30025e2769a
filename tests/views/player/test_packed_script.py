"""What is taken out of a script changes nothing that it says or does."""

from __future__ import annotations

import pytest

from labkit.views.player.packed_script import packed_script


@pytest.mark.parametrize(
    ("module", "packed"),
    [
        ('import { a, b } from "./a.js";\n\nconst c = a(1, 2);\n\nexport { c };\n', "const c=a(1,2);"),
        ("// what it is for\nfunction f(a) {\n  return a;\n}\n", "function f(a){\nreturn a;\n}"),
        ("say(\"a, b : c\", 'd = e');", "say(\"a, b : c\",'d = e');"),
        ('say("a \\" , b");', 'say("a \\" , b");'),
        ("const a = `x , ${b ? `y : z` : c } = ${d}` + e;", "const a=`x , ${b ? `y : z` : c } = ${d}`+e;"),
        (
            "const a = `${b.map(({ c }) => `{ ${c} }`)} ; \\` , `;",
            "const a=`${b.map(({ c }) => `{ ${c} }`)} ; \\` , `;",
        ),
        ("words.split(/, |: /);", "words.split(/, |: /);"),
        ("const half = (a - -b) / 2 + +c;", "const half=(a - -b)/ 2 + +c;"),
        ("const d = a + b - c / e % f;", "const d=a+b-c/e%f;"),
        ("const { a = 1, ...b } = c ?? d;", "const{a=1,...b}=c??d;"),
        ("if (a) return [a, b];\nelse if (!b && c) throw d;", "if(a)return[a,b];\nelse if(!b&&c)throw d;"),
    ],
)
def test_what_only_a_reader_needs_is_left_out(module: str, packed: str) -> None:
    assert packed_script(module) == packed


def test_a_template_that_does_not_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="a brace that ends what is put into a template"):
        packed_script("const a = `${b;")
