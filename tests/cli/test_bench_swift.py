"""Claims about `wavetank bench swift://...` against a real OpenStack Swift on loopback.

Skipped, saying so, where Swift and memcached are not installed (install/object.sh).
"""

from __future__ import annotations

import functools
import json
import shlex
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.real_swift import swift
from typer.testing import CliRunner, Result

from wavetank import shipped
from wavetank.cli import store_benching
from wavetank.cli.app import app
from wavetank.conduct.on_host import HostTools
from wavetank.gauges import environment
from wavetank.systems import object_programs

pytestmark = pytest.mark.slow

Wavetank = Callable[..., Result]
USER, KEY = "test:tester", "testing"


@pytest.fixture(scope="module")
def auth_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where tokens come from; the account has a container `c`."""
    proxy = object_programs.locate("swift-proxy-server")
    memcached = object_programs.locate("memcached")
    if proxy is None or memcached is None:
        pytest.skip("Swift or memcached is not installed: sh install/object.sh")
    with swift(Path(proxy).parent, memcached, tmp_path_factory.mktemp("swift")) as url:
        ask(url, "PUT", "/c")
        yield url


def ask(auth_url: str, method: str, path: str) -> list[str]:
    """A request of our own; the lines of its answer."""
    headers = {"X-Auth-User": USER, "X-Auth-Key": KEY}
    token = urllib.request.urlopen(urllib.request.Request(auth_url, headers=headers), timeout=120)
    found = urllib.request.Request(
        token.headers["X-Storage-Url"] + path,
        method=method,
        headers={"X-Auth-Token": token.headers["X-Auth-Token"]},
    )
    with urllib.request.urlopen(found, timeout=120) as answer:
        return list(answer.read().decode().split())


@pytest.fixture
def wavetank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("bench swift://...")` in an empty directory, with credentials set."""
    try:
        engine: Path = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    tools = HostTools(
        engine=engine, collect_environment=functools.partial(environment.collect_host, engine)
    )
    monkeypatch.setattr(store_benching, "find_host_tools", lambda: tools)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ST_USER", USER)
    monkeypatch.setenv("ST_KEY", KEY)
    return lambda words: CliRunner().invoke(app, shlex.split(words))


def test_a_container_is_measured_and_left_empty(wavetank: Wavetank, auth_url: str) -> None:
    words = "--operation put,get,head,delete,list,mix --size 4KiB --objects 8 --set-size 1MiB"
    words += " --parallel 2 --verify yes --duration 300ms --json --out first"
    result = wavetank(f"bench swift://c/try --endpoint {auth_url} {words}")
    assert result.exit_code == 0, result.output
    cells = json.loads(result.stdout)["cells"]
    assert {(cell["status"], cell["failed_operations"]) for cell in cells} == {("ok", 0)}
    assert len(cells) == 6
    assert ask(auth_url, "GET", "/c") == []


def test_large_objects_and_their_segments_are_removed(wavetank: Wavetank, auth_url: str) -> None:
    words = "--workload chunking --size 1MiB --parts 4 --set-size 8MiB --duration 300ms --out first"
    result = wavetank(f"bench swift://c/try --endpoint {auth_url} {words}")
    assert result.exit_code == 0, result.output
    assert ask(auth_url, "GET", "/c") == []
    assert ask(auth_url, "GET", "/c_segments") == []


def test_wrong_credentials_and_a_missing_container_are_one_sentence(
    wavetank: Wavetank, auth_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = wavetank(f"bench swift://none/try --endpoint {auth_url}")
    assert result.exit_code == 2
    assert 'no container "none"' in result.stderr
    monkeypatch.setenv("ST_KEY", "wrong-key")
    result = wavetank(f"bench swift://c/try --endpoint {auth_url}")
    assert result.exit_code == 2
    assert "refused the credentials" in result.stderr
    assert "wrong-key" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
