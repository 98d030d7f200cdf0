"""Claims about a measurement of the user's own directory, with the real load engine."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from wavetank import shipped
from wavetank.conduct import on_host
from wavetank.conduct.events import Event, TrialEnded, TrialStarted, nobody
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host import HostChanged, HostTools
from wavetank.conduct.on_host_directory import DirectoryFailed, DirectoryRefused
from wavetank.conduct.on_host_plan import HostRequest, make_host_plan
from wavetank.conduct.pool import Interrupted
from wavetank.errors import UsageError
from wavetank.gauges import environment, host
from wavetank.runs import directory
from wavetank.runs.records import Environment, Plan

SMALL = {"file-size": ["4KiB", "16KiB"], "set-size": ["64KiB"]}
LONG = {"file-size": ["4KiB"], "set-size": ["2GiB"], "duration": ["1h"], "operation": ["write"]}
# Ends what hangs; nothing takes so long, however busy the machine.
DEADLINE_S = 120.0


def plan(
    parameters: dict[str, list[str]] = SMALL,
    workload: str = "batch",
    *,
    warm: bool = False,
    repeats: int = 1,
    deadline_s: float = 600.0,
) -> Plan:
    return make_host_plan(
        HostRequest(
            workload=workload,
            parameters=parameters,
            warm=warm,
            repeats=repeats,
            trial_deadline_s=deadline_s,
            question="How does it do?",
        )
    )


@pytest.fixture
def tools() -> HostTools:
    try:
        engine: Path = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    # Not as root would: a test run must not empty the whole machine's cache.
    method = functools.partial(host.page_cache_method, drop_caches=Path("/nowhere"))
    return HostTools(engine=engine, collect_environment=told, cache_method=method)


def told(place: str, page_cache: str) -> Environment:
    """An environment without asking the engine for its ceiling, which takes a second."""
    return Environment(
        wavetank_version="0",
        kernel_release=os.uname().release,
        kernel_digest="k",
        engine_version="e",
        engine_ceiling_operations_per_s=None,
        isolation=place,
        versions={},
        host={"page cache": page_cache},
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The directory that is measured."""
    path = tmp_path / "target"
    path.mkdir()
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def measure(
    target: Path,
    out: Path,
    tools: HostTools,
    asked: Plan,
    observer: Callable[[Event], None] = nobody,
) -> directory.Run:
    with on_host.place(target, out, tools) as where:
        return on_host.start(where, out, asked, tools, observer)


def go_on(target: Path, out: Path, tools: HostTools) -> directory.Run:
    with on_host.place(target, out, tools) as where:
        return on_host.resume(where, out, tools, nobody)


def played_engine(folder: Path, script: str) -> Path:
    """A program in the load engine's place."""
    program = folder / "engine"
    program.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    program.chmod(0o755)
    return program


def test_every_trial_is_measured_and_nothing_is_left(
    target: Path, out: Path, tools: HostTools
) -> None:
    run = measure(target, out, tools, plan())
    assert [trial.status for trial in run.trials] == ["ok"] * 4
    assert list(target.iterdir()) == []
    for trial in run.trials:
        assert trial.link is None
        assert trial.network_measured is None
        assert trial.phases[0].operations[0].failed == 0
    counts = {
        asked.cell.workload.parameters["file_size_bytes"]: trial.phases[0].operations[0].count
        for asked, trial in zip(run.plan.trials, run.trials, strict=True)
    }
    assert counts == {4096: 16, 16384: 4}


def test_the_record_says_on_what_and_with_which_cache(
    target: Path, out: Path, tools: HostTools
) -> None:
    with on_host.place(target, out, tools) as where:
        warm = on_host.is_warm(where, None)
        run = on_host.start(where, out, plan(warm=warm), tools, nobody)
    for trial in run.trials:
        assert trial.effective["path"] == str(target)
        assert trial.effective["mount_type"] not in ("", "unknown")
        assert trial.effective["page_cache"]
        if not warm:
            assert float(trial.effective["cached_share_before"]) == 0.0
    assert run.environment.host["page cache"]
    assert run.environment.kernel_release == os.uname().release
    assert str(target) in run.environment.isolation


def test_a_warm_trial_finds_its_set_in_memory(target: Path, out: Path, tools: HostTools) -> None:
    run = measure(target, out, tools, plan(warm=True))
    assert {trial.status for trial in run.trials} == {"ok"}
    assert {trial.effective["cached_share_before"] for trial in run.trials} == {"1.0000"}


@pytest.mark.parametrize("workload", ["single-file", "access-unit", "random-sequential"])
def test_every_workload_of_the_lab_runs_on_a_directory_too(
    target: Path, out: Path, tools: HostTools, workload: str
) -> None:
    run = measure(target, out, tools, plan({"file-size": ["64KiB"], "unit": ["4KiB"]}, workload))
    assert [trial.status for trial in run.trials] == ["ok", "ok"]
    assert list(target.iterdir()) == []


def test_the_environment_is_this_machines(tools: HostTools) -> None:
    found = environment.collect_host(tools.engine, "none: files lie in /mnt", "emptied")
    assert found.kernel_release == os.uname().release
    assert found.host["page cache"] == "emptied"
    assert found.engine_version.startswith("wavetank-load")
    assert found.engine_ceiling_operations_per_s is not None


def test_every_round_runs_all_cells_in_an_order_of_its_own() -> None:
    asked = plan({"file-size": ["4KiB", "8KiB", "16KiB", "32KiB"]}, repeats=6)
    rounds = [
        [index for batch in asked.batches for index in batch if asked.trials[index].repeat == r]
        for r in range(6)
    ]
    order = [asked.trials[index].repeat for batch in asked.batches for index in batch]
    assert order == sorted(order)
    cells = [[asked.trials[index].cell.digest for index in one] for one in rounds]
    assert len({frozenset(one) for one in cells}) == 1
    assert len({tuple(one) for one in cells}) > 1


def test_runs_on_two_mounts_have_the_same_cells(tmp_path: Path, tools: HostTools) -> None:
    runs = []
    for name in "ab":
        (tmp_path / name).mkdir()
        runs.append(measure(tmp_path / name, tmp_path / f"out-{name}", tools, plan()))
    assert [t.cell for t in runs[0].trials] == [t.cell for t in runs[1].trials]


def test_repeats_write_other_content(target: Path, out: Path) -> None:
    asked = plan(repeats=2).trials
    seeds = {GuestTrial(index=0, cell=one.cell, repeat=one.repeat).seed for one in asked}
    assert len(seeds) == 2


def test_ctrl_c_leaves_a_readable_run_that_goes_on_and_nothing_twice(
    target: Path, out: Path, tools: HostTools
) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.index == first:
            os.kill(os.getpid(), signal.SIGINT)

    asked = plan()
    first = asked.batches[0][0]
    with pytest.raises(Interrupted, match=r"To go on: wavetank bench .* --resume --out") as told:
        measure(target, out, tools, asked, interrupt)
    assert "\n" not in str(told.value)
    assert list(target.iterdir()) == []
    assert len(directory.read(out).trials) == 1
    ran: list[int] = []
    with on_host.place(target, out, tools) as where:
        run = on_host.resume(
            where, out, tools, lambda e: ran.append(e.index) if isinstance(e, TrialEnded) else None
        )
    assert run.missing == []
    assert sorted([first, *ran]) == [0, 1, 2, 3]


def test_ctrl_c_ends_a_trial_that_is_under_way(target: Path, out: Path, tools: HostTools) -> None:
    def later(event: Event) -> None:
        if isinstance(event, TrialStarted):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(Interrupted):
        measure(target, out, tools, plan(LONG), later)
    assert directory.read(out).trials == []  # it was not waited for
    assert list(target.iterdir()) == []


def test_a_run_that_is_done_is_left_as_it_is(target: Path, out: Path, tools: HostTools) -> None:
    measure(target, out, tools, plan())
    before = (out / directory.TRIALS).read_bytes()
    assert go_on(target, out, tools).missing == []
    assert (out / directory.TRIALS).read_bytes() == before


def test_a_run_goes_on_only_where_it_began(tmp_path: Path, out: Path, tools: HostTools) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    measure(tmp_path / "a", out, tools, plan())
    (out / directory.TRIALS).write_bytes(b"")
    with pytest.raises(HostChanged, match="this run began with place"):
        go_on(tmp_path / "b", out, tools)
    assert list((tmp_path / "b").iterdir()) == []


def test_a_file_system_that_fills_up_ends_the_run_and_keeps_what_was_measured(
    target: Path, tmp_path: Path, out: Path, tools: HostTools
) -> None:
    """The engine is real until the third trial, then it meets ENOSPC."""
    real = tools.engine
    engine = played_engine(
        tmp_path,
        "import os, pathlib, subprocess, re\n"
        f"count = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(n))\n"
        f"code = subprocess.call([{str(real)!r}, *sys.argv[1:]])\n"
        "if n == 3 and '--output' in sys.argv:\n"
        "    file = pathlib.Path(sys.argv[-1])\n"
        "    text = file.read_text().replace('\"failed\":0', '\"failed\":7', 1)\n"
        '    file.write_text(text.replace(\'"errors":{}\', \'"errors":{"ENOSPC":7}\', 1))\n'
        "sys.exit(code)",
    )
    played = msgspec.structs.replace(tools, engine=engine)
    asked = plan({**SMALL, "operation": ["write"]}, repeats=2)
    with pytest.raises(DirectoryFailed, match=r"became full.*ENOSPC.*to go on: ") as told:
        measure(target, out, played, asked)
    assert "\n" not in str(told.value)
    run = directory.read(out)
    assert [trial.status for trial in run.trials].count("ok") == 2
    lost = next(trial for trial in run.trials if trial.status == "failed")
    assert "ENOSPC" in str(lost.reason)
    assert list(target.iterdir()) == []


def test_a_trial_that_does_not_end_is_given_up_and_the_next_one_runs(
    target: Path, tmp_path: Path, out: Path, tools: HostTools
) -> None:
    engine = played_engine(tmp_path, "import time; time.sleep(600)")
    played = msgspec.structs.replace(tools, engine=engine)
    asked = plan({**SMALL, "operation": ["write"]}, deadline_s=0.3)
    run = measure(target, out, played, asked)
    assert [trial.status for trial in run.trials] == ["timeout", "timeout"]
    assert list(target.iterdir()) == []


def test_an_engine_that_can_not_work_costs_its_trial_and_says_why(
    target: Path, tmp_path: Path, out: Path, tools: HostTools
) -> None:
    engine = played_engine(tmp_path, "sys.exit('wavetank-load: too many open files')")
    run = measure(target, out, msgspec.structs.replace(tools, engine=engine), plan())
    assert {trial.status for trial in run.trials} == {"failed"}
    assert {trial.reason for trial in run.trials} == {"too many open files"}


def test_the_run_directory_may_not_lie_in_what_is_measured(target: Path, tools: HostTools) -> None:
    with pytest.raises(UsageError, match="--out"), on_host.place(target, target / "o", tools):
        pass
    assert list(target.iterdir()) == []


def test_a_set_larger_than_the_file_system_is_refused_before_anything_is_made(
    target: Path, out: Path, tools: HostTools
) -> None:
    huge = plan({"file-size": ["1GiB"], "set-size": ["900000GiB"]})
    with pytest.raises(DirectoryFailed, match="--set-size"):
        measure(target, out, tools, huge)
    assert not out.exists()
    assert list(target.iterdir()) == []


def test_cold_is_refused_where_the_cache_can_not_be_emptied(
    target: Path, out: Path, tools: HostTools
) -> None:
    stuck = msgspec.structs.replace(tools, cache_method=lambda _: "none")
    with on_host.place(target, out, stuck) as where:
        assert on_host.is_warm(where, None)
        assert on_host.is_warm(where, True)
        with pytest.raises(UsageError, match="--cache-state warm"):
            on_host.is_warm(where, False)


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import test_on_host as t
from wavetank import shipped
from wavetank.conduct.on_host import HostTools
tools = HostTools(engine=shipped.binary("wavetank-load"), collect_environment=t.told)
t.measure(Path(sys.argv[1]), Path(sys.argv[2]), tools, t.plan(t.LONG),
    lambda event: print(event, flush=True))
"""


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.02)


def children(parent: int) -> list[int]:
    """Processes that this one has started."""
    running = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
    return [one for one in running if state_and_parent(one)[1] == parent]


def alive(process: int) -> bool:
    return state_and_parent(process)[0] not in ("", "Z", "X")


def state_and_parent(process: int) -> tuple[str, int]:
    """As proc(5) has them in `stat`; no state where there is no such process."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", 0
    return words[0], int(words[1])


def test_after_kill_9_nobody_writes_and_the_next_run_says_what_to_remove(
    target: Path, out: Path, tools: HostTools
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(target), str(out), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    wait_for(lambda: any(target.glob("*/set/d*/f*")))
    engines = children(process.pid)
    assert engines
    process.kill()
    process.wait()
    wait_for(lambda: not any(map(alive, engines)))
    with (
        pytest.raises(DirectoryRefused, match=r"left behind.*rm -r "),
        on_host.place(target, out, tools),
    ):
        pass
