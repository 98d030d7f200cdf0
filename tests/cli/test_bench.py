"""Claims about `wavetank bench` from words to exit code, on real directories."""

from __future__ import annotations

import functools
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wavetank import shipped
from wavetank.cli import benching, conducting
from wavetank.cli.app import app
from wavetank.conduct.on_host import HostTools
from wavetank.gauges import environment, host
from wavetank.runs import directory

Wavetank = Callable[..., Result]
ASK = "bench mount --file-size 4KiB,16KiB --set-size 64KiB --duration 5s"


@pytest.fixture
def wavetank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Wavetank:
    """`wavetank("bench mount ...")` in a directory that has an empty `mount`."""
    try:
        engine: Path = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    tools = HostTools(
        engine=engine,
        collect_environment=functools.partial(environment.collect_host, engine),
        # Not as root would: a test run must not empty the whole machine's cache.
        cache_method=functools.partial(host.page_cache_method, drop_caches=Path("/nowhere")),
    )
    monkeypatch.setattr(benching, "find_host_tools", lambda: tools)
    monkeypatch.chdir(tmp_path)
    Path("mount").mkdir()
    runner = CliRunner()
    return lambda words: runner.invoke(app, shlex.split(words))


def test_a_measurement_ends_with_tables_a_report_and_exit_code_0(wavetank: Wavetank) -> None:
    result = wavetank(f"{ASK} --out first")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.rstrip().endswith("first/report.html")
    assert "16 KiB files" in result.stdout
    page = Path("first/report.html").read_text()
    assert "posix_fadvise" in page or "cannot be emptied" in page
    assert str(Path("mount").absolute()) in page
    assert list(Path("mount").iterdir()) == []


def test_the_report_claims_nothing_of_the_lab_for_a_directory_as_it_is(
    wavetank: Wavetank,
) -> None:
    told = wavetank(f"{ASK} --out first").stdout
    page = Path("first/report.html").read_text()
    for text in (told, page):
        assert "not emulated" in text
        assert "no rate limit" not in text
        assert "Only one system" not in text
    for words in ("Guest kernel", "Disks are models", "One guest is one core", "cubic"):
        assert words not in page
    assert "Measured outside the lab" in page


def test_json_is_one_document_on_the_real_clock_without_a_link(wavetank: Wavetank) -> None:
    document = json.loads(wavetank(f"{ASK} --out first --json").stdout)
    assert document["clock"] == "real"
    assert len(document["cells"]) == 4
    assert {cell["status"] for cell in document["cells"]} == {"ok"}
    assert {cell["system"] for cell in document["cells"]} == {"path"}
    assert {cell["network"] for cell in document["cells"]} == {"as-it-is"}
    assert {cell["link_bytes"] for cell in document["cells"]} == {None}


def test_without_out_the_run_goes_where_runs_go(wavetank: Wavetank) -> None:
    assert wavetank(ASK).exit_code == 0
    (path,) = Path("wavetank-runs").iterdir()
    assert path.name.endswith("-bench")


def test_two_mounts_can_be_told_apart_by_diff(wavetank: Wavetank) -> None:
    Path("other").mkdir()
    assert wavetank(f"{ASK} --repeats 2 --out a").exit_code == 0
    assert wavetank(f"{ASK} --repeats 2 --out b".replace("mount", "other")).exit_code == 0
    result = wavetank("diff a b --threshold 99%")
    assert result.exit_code in (0, 1, 4), result.stderr
    assert "of 4 cells past" in result.stdout


def test_the_command_in_the_record_asks_for_the_same(wavetank: Wavetank) -> None:
    wavetank(f"{ASK} --out a --seed 7 --repeats 2 --cache-state warm --operation read")
    first = directory.read(Path("a")).plan
    assert wavetank(f"{shlex.join(first.command[1:])} --out b").exit_code == 0
    assert directory.read(Path("b")).plan.trials == first.trials


def test_a_run_cut_off_is_finished_by_resume(wavetank: Wavetank) -> None:
    wavetank(f"{ASK} --out first")
    records = Path("first/trials.jsonl")
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:1]))
    result = wavetank("bench mount --resume --out first")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("3 of 4 trials to run")
    assert directory.read(Path("first")).missing == []


def test_compare_does_not_go_on_with_a_run_of_bench_but_says_who_does(
    wavetank: Wavetank, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wavetank(f"{ASK} --out first")
    Path("first/trials.jsonl").write_bytes(b"")
    monkeypatch.setattr(conducting, "find_tools", lab.tools)
    result = wavetank("compare --resume --out first")
    assert result.exit_code == 2
    assert "wavetank bench PATH --resume --out first" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("bench nowhere", "does not exist"),
        ("bench file", "is not a directory"),
        ("bench used", "is not empty"),
        ("bench mount --file-size 4KX", "4KX"),
        ("bench mount --workload btch", "batch"),
        ("bench mount --access direct --file-size 5000", "multiples of 4KiB"),
        ("bench mount --order random", "no parameter 'order'"),
        ("bench mount --out used", "is not empty"),
        ("bench mount --out mount/run", "would lie in"),
        ("bench mount --resume", "--out DIR"),
        ("bench mount --resume --out nowhere", "not a run directory"),
        ("bench mount --trial-deadline soon", "soon"),
    ],
)
def test_bad_words_are_answered_in_one_sentence_with_exit_code_2(
    wavetank: Wavetank, words: str, said: str
) -> None:
    Path("file").touch()
    Path("used").mkdir()
    Path("used/thesis.tex").touch()
    result = wavetank(words)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.startswith("wavetank: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert sorted(path.name for path in Path().iterdir()) == ["file", "mount", "used"]
    assert list(Path("mount").iterdir()) == []


def test_a_set_that_does_not_fit_is_exit_code_3(wavetank: Wavetank) -> None:
    result = wavetank("bench mount --file-size 1GiB --set-size 900000GiB --out first")
    assert result.exit_code == 3
    assert "make room" in result.stderr
    assert not Path("first").exists()


IN_NAMESPACE = """
set -e
inodes=0
[ "$2" = crowded ] && inodes=20
mount -t tmpfs -o size=16m,nr_inodes=$inodes none "$1"
mkdir "$1/empty"
case "$2" in
full) head -c 12M /dev/zero > "$1/other" ;;
read-only) mount -o remount,ro "$1" ;;
esac
"$3" -m wavetank_bench "$1/empty" || exit $?
"""


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        ("fine", 0, ""),
        ("full", 3, "make room"),
        ("crowded", 3, "more files (inodes) and the set has 32;"),
        ("read-only", 3, "is read-only; mount it writable"),
    ],
)
def test_a_real_file_system_that_is_full_or_read_only_is_told(
    wavetank: Wavetank, tmp_path: Path, state: str, code: int, said: str
) -> None:
    unshare = shutil.which("unshare")
    allowed = unshare and subprocess.run([unshare, "-rm", "true"], check=False).returncode == 0
    if not allowed:
        pytest.skip("this user may make no mount namespace")
    (tmp_path / "wavetank_bench.py").write_text(
        "import sys; from wavetank.cli.app import app\n"
        "app(['bench', sys.argv[1], '--file-size', '256KiB', '--set-size', '8MiB', '--out', 'o'])\n"
    )
    done = subprocess.run(
        [str(unshare), "-rm", "sh", "-c", IN_NAMESPACE, "sh", "mount", state, sys.executable],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    if code == 0:
        page = Path("o/report.html").read_text()
        assert "cannot be emptied" in page
        assert directory.read(Path("o")).plan.trials[0].cell.cache_state == "warm"
    else:
        assert done.stderr.count("\n") == 1
