"""Claims about studies on the host, with the real load engine and the real versitygw."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import pytest

from wavetank import shipped
from wavetank.conduct import on_loopback, on_loopback_server
from wavetank.conduct.catalogue import Rooms
from wavetank.conduct.events import Event, TrialEnded, nobody
from wavetank.conduct.guest_job import GuestTrial
from wavetank.conduct.on_host import HostChanged, HostTools
from wavetank.conduct.on_loopback_trial import Place, run_trial
from wavetank.conduct.planning import plan_study
from wavetank.conduct.pool import Interrupted
from wavetank.lab.errors import LabError
from wavetank.lab.host import processor_limit
from wavetank.lab.host.processor_limit import NoProcessorLimit, ProcessorLimit
from wavetank.runs import directory
from wavetank.runs.records import Environment, Plan
from wavetank.study import study_file
from wavetank.systems import object_programs

STUDY = """
title = "A little"
question = "Does it run?"
place = "host"
clock = "real"

[[part]]
systems = ["s3"]
networks = ["loopback"]
{client}
workload = "object"
[part.parameters]
operation = ["put", "get"]
size = "16KiB"
parallel = 4
objects = 8
duration = "300ms"
verify = false
"""


def plan(client: str = "") -> Plan:
    study = study_file.parse(STUDY.format(client=client), "s.toml", "s", Rooms())
    return plan_study(study, ["wavetank", "run", "s.toml"])


@pytest.fixture
def tools() -> HostTools:
    try:
        engine: Path = shipped.binary("wavetank-load")
    except shipped.ShippedFileMissing as error:
        pytest.skip(str(error))
    try:
        object_programs.find("versitygw")
    except LabError as error:
        pytest.skip(str(error))

    def collect(place: str, page_cache: str) -> Environment:
        return Environment(
            wavetank_version="0",
            kernel_release="r",
            kernel_digest="k",
            engine_version="e",
            engine_ceiling_operations_per_s=None,
            isolation=place,
            versions={},
            host={"page cache": page_cache},
        )

    return HostTools(engine=engine, collect_environment=collect)


@pytest.fixture
def limit() -> ProcessorLimit:
    try:
        return processor_limit.find()
    except NoProcessorLimit as error:
        pytest.skip(str(error))


def nothing_limits() -> ProcessorLimit:
    raise NoProcessorLimit("nothing here limits a process's processor time.")


def test_both_ways_are_measured_and_nothing_is_left(
    tools: HostTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    run = on_loopback.start(tmp_path / "run", plan(), tools, nobody, nothing_limits)
    assert [trial.status for trial in run.trials] == ["ok", "ok"]
    for trial in run.trials:
        (phase,) = trial.phases
        assert phase.operations[0].count > 0
        assert phase.operations[0].failed == 0
        assert trial.effective == {"server": "versitygw"}
    assert list((tmp_path / "temporary").iterdir()) == []
    assert "loopback" in run.environment.isolation
    logs = (run.path / directory.GUESTS / "host.log").read_text()
    assert "secret" not in logs.lower()


def test_a_limited_client_uses_no_more_than_is_declared(
    tools: HostTools, limit: ProcessorLimit, tmp_path: Path
) -> None:
    asked = plan("client-processors = 0.05")
    run = on_loopback.start(tmp_path / "run", asked, tools, nobody, lambda: limit)
    assert [(trial.status, trial.reason) for trial in run.trials] == [("ok", None)] * 2
    assert all(trial.effective["processor_limit"] == limit.kind for trial in run.trials)
    assert limit.kind in run.environment.isolation


def test_a_client_that_took_more_is_void(tools: HostTools, tmp_path: Path) -> None:
    """A limit that limits nothing: what a machine might do that only seems to have one."""
    loose = ProcessorLimit("systemd scope")
    trial = plan("client-processors = 0.01").trials[1]
    with (
        pytest.MonkeyPatch.context() as patch,
        on_loopback_server.serving() as server,
    ):
        patch.setattr(processor_limit, "_scope", lambda _: ())
        place = Place(
            server=server,
            engine=tools.engine,
            log=tmp_path / "log",
            interrupted=threading.Event(),
            limit=loose,
        )
        record = run_trial(GuestTrial(index=0, cell=trial.cell, repeat=0), place, 60.0)
    assert record.status == "void"
    assert record.reason is not None
    assert "where 0.01 are declared" in record.reason


def test_without_a_limit_nothing_is_made_and_a_sentence_says_so(
    tools: HostTools, tmp_path: Path
) -> None:
    with pytest.raises(NoProcessorLimit):
        on_loopback.start(
            tmp_path / "run", plan("client-processors = 0.1"), tools, nobody, nothing_limits
        )
    assert not (tmp_path / "run").exists()


def test_an_interrupted_study_goes_on_where_it_was(tools: HostTools, tmp_path: Path) -> None:
    out = tmp_path / "run"

    def stop_after_one(event: Event) -> None:
        if isinstance(event, TrialEnded):
            os.kill(os.getpid(), 2)

    with pytest.raises(Interrupted, match=r"wavetank run s\.toml --resume"):
        on_loopback.start(out, plan(), tools, stop_after_one, nothing_limits)
    assert len(directory.read(out).missing) == 1
    run = on_loopback.resume(out, tools, nobody, nothing_limits)
    assert not run.missing


def test_another_machine_does_not_go_on(tools: HostTools, tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = plan()
    here = tools.collect_environment("none: elsewhere", "as it is")
    directory.create(out, asked, here)
    with pytest.raises(HostChanged, match="began with place"):
        on_loopback.resume(out, tools, nobody, nothing_limits)


def test_an_engine_that_fails_costs_its_trial_alone(tools: HostTools, tmp_path: Path) -> None:
    broken = tmp_path / "engine"
    broken.write_text("#!/bin/sh\necho 'wavetank-load: it is broken' >&2\nexit 3\n")
    broken.chmod(0o755)
    lost = msgspec.structs.replace(tools, engine=broken)
    run = on_loopback.start(tmp_path / "run", plan(), lost, nobody, nothing_limits)
    assert [(trial.status, trial.reason) for trial in run.trials] == [
        ("failed", "it is broken")
    ] * 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"s3"', '"s3:server=rclone"', "there is s3 with versitygw alone"),
        ('"s3"', '"swift"', "swift runs in the lab"),
        ('"loopback"', '"realistic"', "can't be emulated on the host"),
        ('clock = "real"', 'clock = "virtual"', 'clock = "real"'),
        (
            "{client}",
            'client-disk = "ssd"\nclient-memory = "1GiB"',
            "a model of the lab's",
        ),
    ],
)
def test_what_the_host_does_not_have_is_refused(old: str, new: str, said: str) -> None:
    text = STUDY.replace(old, new).replace("{client}", "")
    with pytest.raises(Exception, match=said) as caught:
        plan_study(study_file.parse(text, "s.toml", "s", Rooms()), [])
    assert "\n" not in str(caught.value)
