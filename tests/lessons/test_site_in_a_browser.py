"""The lessons' site in a real browser: lessons run to their end with what they show elsewhere, and ask no other host.

It needs a browser, npm, the extra ``site``, and a folder of wheels that were compiled for Pyodide, which
``LABKIT_PYODIDE_WHEELS`` names: ``make browser``.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from labkit import Lab, places
from labkit.lessons.browser_python import PYODIDE
from tests import environment
from tests.browser import BROWSER, Browser, in_a_browser

WHEELS = environment.users().get("LABKIT_PYODIDE_WHEELS")
with_wheels = pytest.mark.skipif(not WHEELS, reason="LABKIT_PYODIDE_WHEELS names no folder of wheels for Pyodide")
pytestmark = [pytest.mark.slow, in_a_browser, with_wheels]

MAX_SITE_BYTES, MAX_FIRST_VISIT_BYTES = 70_000_000, 25_000_000
MAX_FIRST_PROMOTION_MS = 60_000  # on two free cores 10 s are the aim
DEADLINE_MS = 300_000

OTHER_HOSTS_REFUSED = "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; report-uri /reported"
STEPS = """
from labkit import Lab

lab = Lab.pair(seed=7)
lab.replicate("paris", "tokyo")
lab.run("5s")
for number in range(5):
    lab["paris"].post(f"secret/data/order-{number}", {"data": {"number": number}})
lab.crash("paris")
lab.run("20s")
lab["tokyo"].promote()
digest = lab.trace.digest()
"""
SERVE = """
from labkit import Vault
try:
    Vault.dev().serve().open()
except RuntimeError as error:
    said = str(error)
said
"""
FIRST_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>First promotion</title><link rel="icon" href="favicon.ico"></head>
<body><script type="module">
import { loadPyodide } from "./pyodide/pyodide.mjs";
const python = await loadPyodide({ packages: ["labkit-secrets"] });
const digest = python.runPython(STEPS + "digest");
const ms = performance.now();
window.result = { digest, ms, said: python.runPython(SERVE) };
</script></body></html>
"""
OPEN = "window.jupyterapp && jupyterapp.shell.currentWidget?.context?.isReady"
READY = "jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
RUN = """jupyterapp.commands.execute("notebook:run-all-cells").then(
  (value) => { window.ended = String(value); }, (error) => { window.ended = String(error); }); 0"""

EXECUTED = """(async () => {
  let printed = "";
  const future = jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code: CODE });
  future.onIOPub = ({ content }) => { printed += content.text ?? content.evalue ?? ""; };
  await future.done;
  return printed;
})()"""


class SiteServer(ThreadingHTTPServer):
    """Hands out a site, remembers what was asked for, and has browsers report what goes to another host."""

    daemon_threads = True

    def __init__(self, site: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(SiteHandler, directory=str(site)))
        self.site, self.url = site, f"http://127.0.0.1:{self.server_port}"
        self.asked: set[str] = set()
        self.reported: list[str] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that goes away."""


class SiteHandler(SimpleHTTPRequestHandler):
    """Answers with a file of the site, or with the page of the first promotion."""

    server: SiteServer
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", OTHER_HOSTS_REFUSED)
        super().end_headers()

    def do_POST(self) -> None:
        self.server.reported.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.add(path)
        if path == "/first.html":
            steps = FIRST_PAGE.replace("SERVE", json.dumps(SERVE)).replace("STEPS", json.dumps(STEPS))
            self._answer(steps.encode(), "text/html")
        elif path == "/jupyter-lite.json":
            settings = json.loads((self.server.site / "jupyter-lite.json").read_text())
            settings["jupyter-config-data"]["exposeAppInBrowser"] = True  # the test gives it commands
            self._answer(json.dumps(settings).encode(), "application/json")
        else:
            super().do_GET()

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *given: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteServer]:
    """A server of the site, which is built from this checkout."""
    pytest.importorskip("jupyterlite_core", reason="make browser installs the extra site")
    work = tmp_path_factory.mktemp("site")
    npm = shutil.which("npm")
    users = environment.users()
    fetched = npm and subprocess.run(
        [npm, "pack", f"pyodide@{PYODIDE}"], cwd=work, env=users, capture_output=True, timeout=120, check=False
    )
    if not fetched or fetched.returncode:
        pytest.skip("npm fetched no Pyodide: without a network no site is built")
    shutil.unpack_archive(next(work.glob("pyodide-*.tgz")), work)
    folder = work / "out"
    # A process of its own has the environment of who runs the suite: pip and JupyterLite are started in it.
    program = "import sys; from labkit.cli import main; sys.exit(main(sys.argv[1:]))"
    asked = ["lessons", "--site", str(folder), "--pyodide", str(work / "package"), "--pyodide", str(WHEELS)]
    built = subprocess.run(
        [sys.executable, "-c", program, *asked],
        cwd=Path(places.__file__).parent.parent,
        env=users,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    with SiteServer(folder) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A tab of its own."""
    with Browser(str(BROWSER)) as opened:
        yield opened


def test_the_site_is_small(server: SiteServer) -> None:
    files = [path for path in server.site.rglob("*") if path.is_file()]

    assert sum(path.stat().st_size for path in files) <= MAX_SITE_BYTES
    assert [path.name for path in files if path.suffix == ".map"] == []


def test_a_pair_does_what_it_does_elsewhere(server: SiteServer, browser: Browser) -> None:
    names: dict[str, Any] = {}
    exec(STEPS, names)
    browser.open(f"{server.url}/first.html")
    result = browser.wait_for("window.result", DEADLINE_MS)

    assert isinstance(names["lab"], Lab)
    assert result["digest"] == names["digest"]
    assert result["ms"] <= MAX_FIRST_PROMOTION_MS
    assert result["said"].startswith("a Python in a browser can listen on no port")
    assert (browser.complaints(), server.reported) == ([], [])


@pytest.mark.parametrize("name", ["00_tour", "07_damaged_tree"])
def test_a_lesson_shows_what_it_shows_elsewhere(
    name: str, server: SiteServer, browser: Browser, tmp_path: Path
) -> None:
    server.asked.clear()
    browser.open(f"{server.url}/lab/index.html?path={name}.ipynb")
    browser.wait_for(OPEN, DEADLINE_MS)
    browser.wait_for(READY, DEADLINE_MS)
    browser.evaluate(RUN)

    assert browser.wait_for("window.ended", DEADLINE_MS) == "true"
    notebook = browser.evaluate("jupyterapp.shell.currentWidget.content.model.toJSON()")
    assert texts(notebook) == texts(played(places.notebooks() / f"{name}.ipynb", tmp_path))
    assert (browser.complaints(), server.reported) == ([], [])
    first_visit = [server.site / path.lstrip("/") for path in sorted(server.asked)]
    packed = sum(len(gzip.compress(path.read_bytes())) for path in first_visit if path.is_file())
    assert packed <= MAX_FIRST_VISIT_BYTES


def test_what_is_answered_stays_in_the_browser(server: SiteServer, browser: Browser) -> None:
    for name, code, said in (
        ("00_tour", "here.predict('survive', 5)", "You said 5"),
        ("01_secret_versions", "lesson('00').done()", "you said 5"),
    ):
        browser.open(f"{server.url}/lab/index.html?path={name}.ipynb")
        browser.wait_for(OPEN, DEADLINE_MS)
        browser.wait_for(READY, DEADLINE_MS)
        asked = f"from labkit.lessons import lesson\nhere = lesson('00')\nprint({code})"

        assert said in browser.evaluate(EXECUTED.replace("CODE", json.dumps(asked)))
    assert server.reported == []


def played(path: Path, folder: Path) -> dict[str, Any]:
    """A notebook, run here from top to bottom in a folder of its own."""
    import nbformat
    from nbclient import NotebookClient

    read = nbformat.read(path, as_version=4)
    ran: dict[str, Any] = NotebookClient(read, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return ran


def texts(notebook: dict[str, Any]) -> list[list[str]]:
    """What each code cell shows as text; the time of a vault that reads the real clock is left out."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            outputs = [
                output.get("data", {}).get("text/plain") or output.get("text") or "" for output in cell["outputs"]
            ]
            assert [output for output in cell["outputs"] if output["output_type"] == "error"] == []
            joined = ["".join(output) for output in outputs]
            without_time = [re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "", text).strip() for text in joined]
            shown.append([text for text in without_time if text])  # a browser adds an empty one to what shows itself
    return shown
