"""Shortening: a short script does what the long one does, and only what it declares has short names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from labkit.views.player.shortening import SPACE, parts_of, shortened
from tests import environment
from tests.views.player.scripts import NODE

PROGRAM = r"""
// What is said here is not part of it: "no", `neither`.
const [LIMIT, { first: FIRST }] = [3, { first: "one" }]; // and this is not
const words = [
  FIRST, 'two // not a comment',
  "it's \"three\"", `three ${LIMIT + 1} ${[1, 2].map((number) => `${number}`).join("}")}`,
];
let total = 0, shown;
[shown = 5, total] = [undefined, 2];

function counted({ length, first: { size = LIMIT, other }, ...rest }, [head, ...tail], factor = Math.max(1, 2)) {
  const text = `${head}: ${length}`;
  let [value, more] = [size, tail.length];
  for (const one of tail) value += one;
  return { value, text, more, factor, other: other ?? "none", keys: Object.keys(rest), size() { return size; } };
}

const made = counted({ length: 2, first: { other: null }, last: 1 }, [4, 5, 6]);
const pattern = /^[/"'\w]+ of/u;
const last = (one) => /one"'{/.test(one); /* "one" and 'two" */
const halves = [8, 4].map((one) => one / 2 / 1);
const nested = (one) => (two, { three }) => one + two - -three;
const box = { words, get total() { return total; }, total2: total ? LIMIT : words.length, nested };

function tried(name) {
  try {
    if (name === "y") return /name's "/.exec("name's ").index + typeof /"/;
    if (name === "x") throw new Error(`no ${name}`);
    else { return /x{1}/.test(name) ? "with x" : "without"; }
  } catch (error) {
    return error.message;
  }
}

const left = [...words].sort((one, other) => (one < other ? -1 : 1))[0]?.length ?? 0;
console.log(JSON.stringify({
  made, size: made.size(), shown, halves, sum: box.nested(1)(2, { three: 3 }), box, left,
  tried: ["x", "ax", "b", "y"].map(tried), last: last(`one"'{`), is: pattern.test("two of"), typed: typeof total,
}));
"""


def said(folder: Path, script: str) -> str:
    path = folder / "said.js"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run([str(NODE), str(path)], env=environment.users(), capture_output=True, check=True, text=True)
    return done.stdout


def test_a_short_script_does_the_same(tmp_path: Path) -> None:
    if NODE is None:
        return
    whole, short = said(tmp_path, PROGRAM), said(tmp_path, shortened(PROGRAM))

    assert whole.count(":") > 15
    assert short == whole


def test_it_has_short_names_no_comment_and_no_space_that_is_not_needed() -> None:
    short = shortened(PROGRAM)

    assert len(short) < len(PROGRAM) * 0.75
    for gone in ("counted", "const ", "LIMIT", "factor", "// ", "\n", "; ", "{ "):
        assert gone not in short.replace("two // not a comment", "").replace("factor:", "")
    for stays in ("Math.max", "console.log", "total2:", "two // not a comment", "/^[/\"'\\w]+ of/u"):
        assert stays in short


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("const one = two;", "let A=two;"),
        ("let one = [two, 3], four = (a, b) => a, five;", "let C=[two,3],B=(e,t)=>e,A;"),
        (
            "function f(first) { return { first, second: first.first }; }",
            "function A(e){return{first:e,second:e.first}}",
        ),
        ("const [one, { two }] = three; const four = one + two;", "let[A,{two:B}]=three,C=A+B;"),
        ("const one = [1, () => 2, ]; two(one, );", "let A=[1,()=>2];two(A);"),
        (
            "const f = (a, { b }) => { const c = a; const d = (a) => a + b; return d(c); };",
            "let A=(e,{b:t})=>{let a=e,o=e=>e+t;return o(a)};",
        ),
        ("const made = { a() { return 1; }, b: 2 };", "let A={a(){return 1},b:2};"),
        ("const sum = one + +two - -three;", "let A=one+ +two- -three;"),
        (
            "function f({ first = 1 }) { const { second } = first; return second; }",
            "function A({first:e=1}){let{second:t}=e;return t}",
        ),
        (
            "function f(a) { return (Aa) => a + Aa; } const other = (x) => window.x;",
            "function A(e){return t=>e+t}let B=e=>window.x;",
        ),
    ],
)
def test_names_are_short_where_they_are_variables(long: str, short: str) -> None:
    assert shortened(long) == short


def test_names_that_are_kept_or_are_taken_stay_apart() -> None:
    assert shortened("function start(value) { return value; }", {"start"}) == "function start(e){return e}"
    assert shortened("function f(value) { return e + value; }") == "function A(t){return e+t}"
    assert shortened("const one = A;") == "let B=A;"


def test_properties_that_are_handed_in_are_short_wherever_they_are_named() -> None:
    long = "const made = { size: 1, width, size2() { return this.size; } };"
    long += "function f({ size, width = 2 }) { return made?.size + size + width; }"
    said = shortened(long, {"made", "f", "width"}, ("size", "width"))

    assert said == "let made={e:1,t:width,size2(){return this.e}};function f({e,t=2}){return made?.e+e+t}"
    assert "size" not in said.replace("size2", "")


def test_the_parts_are_the_whole_script() -> None:
    parts = list(parts_of(PROGRAM))

    assert "".join(part.text for part in parts) == PROGRAM
    assert "}${number}" not in [part.text for part in parts]
    assert sum(part.kind == SPACE for part in parts) > 100
