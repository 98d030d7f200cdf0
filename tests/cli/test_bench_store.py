"""Claims about `wavetank bench s3://...`: a real S3 server on loopback, and servers that misbehave.

versitygw is skipped, saying so, where it is not installed (install/object.sh).
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import wavetank as package
from wavetank import shipped
from wavetank.cli import store_benching
from wavetank.cli.app import app
from wavetank.conduct.on_host import HostTools
from wavetank.gauges import environment
from wavetank.notebook import running
from wavetank.systems import object_programs

Wavetank = Callable[..., Result]
HOW_TO = Path(__file__).parents[2] / "docs/howto/notebook.md"
# Found before a test has another HOME.
VERSITYGW = object_programs.locate("versitygw")
KEY, SECRET = "wt-access", "wt-very-secret"
SHORT = "--size 4KiB --set-size 64KiB --objects 8 --duration 300ms"
EMPTY_LIST = (
    '<?xml version="1.0"?><ListBucketResult><Name>b</Name><KeyCount>0</KeyCount>'
    "<IsTruncated>false</IsTruncated></ListBucketResult>"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that versitygw serves; it has a bucket."""
    path = tmp_path_factory.mktemp("gateway")
    (path / "bucket").mkdir()
    return path


@pytest.fixture(scope="module")
def endpoint(root: Path) -> Iterator[str]:
    """A real versitygw."""
    with gateway(root) as url:
        yield url


@contextmanager
def gateway(root: Path, *more: str) -> Iterator[str]:
    """A versitygw on `root`, ended by its own process id."""
    program = VERSITYGW
    if program is None:
        pytest.skip("versitygw is not installed: sh install/object.sh versitygw")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--quiet", "--keep-alive", "--access", KEY, "--secret", SECRET, *more]
    words += ["--region", "us-east-1", "--port", f"127.0.0.1:{port}", "posix", str(root)]
    process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=2)
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(port: int) -> None:
    deadline_s = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)


@pytest.fixture
def wavetank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("bench s3://...")` in an empty directory, with credentials in the environment."""
    try:
        engine: Path = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    tools = HostTools(
        engine=engine, collect_environment=functools.partial(environment.collect_host, engine)
    )
    monkeypatch.setattr(store_benching, "find_host_tools", lambda: tools)
    monkeypatch.setattr(running, "find_host_tools", lambda: tools)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    runner = CliRunner()
    return lambda words: runner.invoke(app, shlex.split(words))


def objects_in(root: Path) -> list[str]:
    """Every object of the bucket; a server's own dot-files apart."""
    bucket = root / "bucket"
    found = (path.relative_to(bucket) for path in bucket.rglob("*") if path.is_file())
    return [str(path) for path in found if not path.parts[0].startswith(".")]


def refused(result: Result) -> str:
    """The one sentence of a refusal."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    return line


def test_a_bucket_is_measured_and_left_as_it_was(
    wavetank: Wavetank, endpoint: str, root: Path
) -> None:
    (root / "bucket/yours").write_text("yours")
    words = "--operation put,get,head,list,delete,mix --parallel 2 --verify yes --duration 100ms"
    asked = f"bench s3://bucket/try --endpoint {endpoint} {SHORT} {words}"
    result = wavetank(f"{asked} --out first --json")
    assert result.exit_code == 0, result.stderr
    cells = json.loads(result.stdout)["cells"]
    assert {(cell["status"], cell["failed_operations"]) for cell in cells} == {("ok", 0)}
    assert {cell["operation"] for cell in cells} == {"put", "get", "head", "list", "delete", "mix"}
    assert {(cell["system"], cell["network"]) for cell in cells} == {("endpoint", "as-it-is")}
    assert objects_in(root) == ["yours"]
    (root / "bucket/yours").unlink()


def test_no_credential_is_in_any_file_of_the_run(
    wavetank: Wavetank, endpoint: str, tmp_path: Path
) -> None:
    file = tmp_path / "keys"
    file.write_text(f"AWS_ACCESS_KEY_ID = {KEY}\nAWS_SECRET_ACCESS_KEY = {SECRET}\n")
    asked = f"bench s3://bucket/try --endpoint {endpoint} {SHORT} --credentials {file}"
    result = wavetank(f"{asked} --out first")
    assert result.exit_code == 0, result.stderr
    for path in Path("first").rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
            assert KEY.encode() not in path.read_bytes(), path
    assert SECRET not in result.output


def test_large_objects_go_up_and_away_in_parts(
    wavetank: Wavetank, endpoint: str, root: Path
) -> None:
    words = "--workload chunking --size 11MiB --parts 2 --set-size 22MiB --duration 300ms"
    result = wavetank(f"bench s3://bucket/try --endpoint {endpoint} {words} --out first")
    assert result.exit_code == 0, result.stderr
    assert objects_in(root) == []


def test_a_prefix_that_is_in_use_is_refused_and_not_touched(
    wavetank: Wavetank, endpoint: str, root: Path
) -> None:
    (root / "bucket/full").mkdir()
    (root / "bucket/full/thing").write_text("yours")
    told = refused(wavetank(f"bench s3://bucket/full --endpoint {endpoint} {SHORT}"))
    assert "full/thing" in told
    assert objects_in(root) == ["full/thing"]
    (root / "bucket/full/thing").unlink()
    (root / "bucket/full").rmdir()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for localhost that signs itself, and its key."""
    made, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    words += " -subj /CN=wavetank-test -addext subjectAltName=DNS:localhost"
    words += " -addext basicConstraints=critical,CA:FALSE"
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    command = [program, *words.split(), "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return made, key


def test_a_service_that_can_not_prove_who_it_is_is_refused_and_one_that_can_is_measured(
    wavetank: Wavetank, certificate: tuple[Path, Path], root: Path
) -> None:
    made, key = certificate
    with gateway(root, "--cert", str(made), "--key", str(key)) as url:
        endpoint = url.replace("http://127.0.0.1", "https://localhost")
        words = f"bench s3://bucket/tls --endpoint {endpoint} {SHORT} --operation put"
        told = refused(wavetank(words))
        assert "--ca-file" in told
        result = wavetank(f"{words} --ca-file {made} --json")
        assert result.exit_code == 0, result.stderr
    (cell,) = json.loads(result.stdout)["cells"]
    assert (cell["status"], cell["failed_operations"]) == ("ok", 0)


@pytest.mark.parametrize(
    ("words", "secret", "said"),
    [
        ("s3://bucket/x", "wrong", "refused the credentials"),
        ("s3://bucket/x --region eu-west-1", SECRET, 'Try: region "us-east-1"'),
        ("s3://nobucket/x", SECRET, 'has no bucket "nobucket"'),
    ],
)
def test_what_a_real_server_refuses_is_told_in_one_sentence(
    wavetank: Wavetank,
    endpoint: str,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
    secret: str,
    said: str,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    told = refused(wavetank(f"bench {words} --endpoint {endpoint} {SHORT}"))
    assert said in told
    assert secret not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("s3://bucket --endpoint http://127.0.0.1:1", "names no prefix"),
        ("s3:///x --endpoint http://127.0.0.1:1", "names no bucket"),
        ("s3://bucket/x", "--endpoint URL"),
        ("swift://c/x", "ST_AUTH"),
        ("s3://bucket/x --endpoint 127.0.0.1:9000", "write a URL"),
        ("s3://bucket/x --endpoint http://me:secret@host", "never stand on the command line"),
        ("s3://bucket/x --endpoint http://127.0.0.1:1", "nothing listens there"),
        ("s3://bucket/x --endpoint http://127.0.0.1:1 --credentials none", "not a file"),
        ("s3://bucket/x --endpoint http://127.0.0.1:1 --workload batch", "works on files"),
        ("s3://bucket/x --endpoint http://127.0.0.1:1 --cache-state warm", "for directories"),
        ("somewhere --endpoint http://127.0.0.1:1", "--endpoint goes with"),
        ("somewhere --clean-up", "--clean-up goes with"),
        ("s3://bucket/x --endpoint http://127.0.0.1:1 --clean-up", "nothing listens there"),
    ],
)
def test_what_can_not_be_meant_is_told_before_anything_is_asked(
    wavetank: Wavetank, words: str, said: str
) -> None:
    told = refused(wavetank(f"bench {words}"))
    assert said in told
    assert "me:secret" not in told


def test_missing_credentials_are_named(wavetank: Wavetank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    told = refused(wavetank("bench s3://bucket/x --endpoint http://127.0.0.1:1"))
    assert "AWS_SECRET_ACCESS_KEY is not set" in told


class Misbehaving(BaseHTTPRequestHandler):
    """Answers a listing as `answers` has it: status and body; PUT and DELETE are busy."""

    status, body = 200, EMPTY_LIST
    date: str | None = None
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(self.status, self.body)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(503, "<Error><Code>SlowDown</Code></Error>")

    def do_DELETE(self) -> None:
        self.send_response(204)
        self.end_headers()

    def _answer(self, status: int, body: str) -> None:
        content = body.encode()
        self.send_response_only(status)
        self.send_header("Date", self.date or formatdate(usegmt=True))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def misbehaving() -> Iterator[Callable[..., str]]:
    """`misbehaving(status=, body=, date=)`: the URL of a server that does so."""
    servers: list[ThreadingHTTPServer] = []

    def start(**said: object) -> str:
        handler = type("Handler", (Misbehaving,), said)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "RequestTimeTooSkewed", "clock"),
        (403, "AccessDenied", "does not allow"),
        (500, "InternalError", "500"),
        (503, "SlowDown", "503"),
        (429, "TooManyRequests", "429"),
    ],
)
def test_what_a_service_may_answer_is_told_in_one_sentence(
    wavetank: Wavetank, misbehaving: Callable[..., str], status: int, code: str, said: str
) -> None:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>"
    url = misbehaving(status=status, body=body, date=formatdate(0, usegmt=True))
    assert said in refused(wavetank(f"bench s3://bucket/x --endpoint {url} {SHORT}"))


def test_an_answer_that_makes_no_sense_is_told(
    wavetank: Wavetank, misbehaving: Callable[..., str]
) -> None:
    url = misbehaving(body="<ListBucketResult><Contents>")
    assert "s3://bucket/x" in refused(wavetank(f"bench s3://bucket/x --endpoint {url} {SHORT}"))


def test_a_service_that_is_too_busy_costs_its_trials_and_no_more(
    wavetank: Wavetank, misbehaving: Callable[..., str]
) -> None:
    words = "--operation put --size 1KiB --set-size 2KiB --duration 200ms"
    result = wavetank(f"bench s3://b/x --endpoint {misbehaving()} {words} --out first --json")
    assert result.exit_code in (0, 3), result.output
    (line,) = Path("first/trials.jsonl").read_text().splitlines()
    (phase,) = json.loads(line)["phases"]
    primary = phase["operations"][0]
    assert (primary["count"], list(primary["errors"])) == (0, ["BUSY"])
    assert phase["retries"] > 0
    (cell,) = json.loads(result.stdout)["cells"]
    assert cell["status"] == "failed"


def test_the_how_tos_example_for_notebooks_measures_a_bucket(
    wavetank: Wavetank, endpoint: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```py\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    block = block.replace("https://s3.example.com", endpoint).replace('"10s"', '"200ms"')
    exec(compile(block, str(HOW_TO), "exec"), {"wavetank": package})
    assert capsys.readouterr().out.count("\n") == 2 * 2 * 2
    assert Path("wavetank-runs/bucket/plan.json").is_file()
    assert objects_in(root) == []


@pytest.fixture
def killed(wavetank: Wavetank, endpoint: str, root: Path) -> str:
    """The words of a bench of large objects that was ended by SIGKILL in the middle of a put."""
    asked = f"bench s3://bucket/killed --endpoint {endpoint}"
    words = f"{asked} --workload chunking --operation put --size 11MiB --parts 2 --duration 20s"
    program = [sys.executable, "-c", "from wavetank.cli import main; main()"]
    process = subprocess.Popen([*program, *shlex.split(words)], env=dict(os.environ))
    try:
        deadline_s = time.monotonic() + 120
        while len(objects_in(root)) < 2 and time.monotonic() < deadline_s:
            time.sleep(0.01)
        assert objects_in(root)
    finally:
        process.kill()
        process.wait(60)
    return asked


def unfinished_in(root: Path) -> list[Path]:
    """What versitygw keeps of uploads that were begun."""
    return [path for path in root.rglob("*") if ".sgwtmp" in path.parts and path.is_file()]


@pytest.mark.slow
def test_what_a_killed_run_left_is_told_and_removed_when_asked_for(
    wavetank: Wavetank, killed: str, root: Path
) -> None:
    (root / "bucket/killed/wavetank-bench-of-mine").write_text("yours")
    try:
        told = refused(wavetank(f"{killed} {SHORT}"))
        assert "--clean-up" in told
        result = wavetank(f"{killed} --clean-up")
        assert result.exit_code == 0, result.output
        assert "objects removed: " in result.stdout
        assert objects_in(root) == ["killed/wavetank-bench-of-mine"]
        assert unfinished_in(root) == []
    finally:
        (root / "bucket/killed/wavetank-bench-of-mine").unlink()
    again = wavetank(f"{killed} --clean-up")
    assert "objects removed: 0, unfinished uploads: 0" in again.stdout


@pytest.mark.slow
def test_an_endpoint_that_hangs_is_given_up(wavetank: Wavetank) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began_s = time.monotonic()
        told = refused(wavetank(f"bench s3://bucket/x --endpoint {url} {SHORT}"))
    assert time.monotonic() - began_s < 40
    assert "nothing came" in told, told


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "--operation get --size 4KiB --objects 32",
        "--workload chunking --operation put --size 11MiB --parts 2",
    ],
)
def test_ctrl_c_leaves_nothing_in_the_bucket_and_a_run_to_go_on_with(
    wavetank: Wavetank, endpoint: str, root: Path, words: str
) -> None:
    words = f"{words} --duration 20s"
    program = [sys.executable, "-c", "from wavetank.cli import main; main()"]
    program += ["bench", "s3://bucket/try", "--endpoint", endpoint]
    process = subprocess.Popen(
        [*program, *words.split(), "--out", "first"], env=dict(os.environ), stderr=subprocess.PIPE
    )
    deadline_s = time.monotonic() + 120
    while not objects_in(root) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert objects_in(root)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode not in (0, 2)
    assert b"--resume --out first" in said
    assert objects_in(root) == []
    assert unfinished_in(root) == []
