"""What `wavetank doctor` says about machines that lack one thing each."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from wavetank import systems
from wavetank.conduct import doctor
from wavetank.conduct.doctor import Finding, Machine, Shipped
from wavetank.systems.object_programs import CACHED

FIT = Machine(
    programs={program.name: f"/usr/sbin/{program.name}" for program in doctor.programs()},
    kernel=Shipped("guest kernel", True, "Linux 6.12"),
    binaries=(Shipped("wavetank-load", True, "/opt/wavetank-load"),),
    available_memory_bytes=16 << 30,
    cores=2,
    namespaces_allowed=True,
    is_root=False,
    restricting_settings=(),
    ptrace_scope=1,
    scratch_is_executable=True,
    scratch_free_bytes=8 << 30,
)


def finding(machine: Machine, name: str) -> Finding:
    [found] = [f for f in doctor.examine(machine) if f.name == name]
    return found


def test_a_fit_machine_has_nothing_to_put_right() -> None:
    findings = doctor.examine(FIT)
    assert doctor.is_fit(findings)
    assert [f for f in findings if f.status != "ok" or f.remedy] == []


@pytest.mark.parametrize("program", doctor.programs(), ids=lambda program: program.name)
def test_a_missing_program_names_its_package(program: doctor.Program) -> None:
    machine = msgspec.structs.replace(FIT, programs={**FIT.programs, program.name: None})
    found = finding(machine, program.name)
    package = doctor.PACKAGES.get(program.name)
    installer = f"sudo apt-get install {package}" if package else "sh install/object.sh"
    assert found.remedy is not None
    assert found.remedy.startswith(installer)
    assert doctor.is_fit(doctor.examine(machine)) is program.optional


def test_every_program_of_every_system_is_looked_for() -> None:
    looked_for = {program.name for program in doctor.programs()}
    for name in systems.names():
        assert set(systems.get(name).programs) <= looked_for
    assert looked_for <= {*doctor.PACKAGES, *CACHED}


def test_a_kernel_that_is_not_built_repeats_the_errors_own_advice() -> None:
    unbuilt = Shipped("guest kernel", False, "it is not built. Try: wavetank kernel build")
    found = finding(msgspec.structs.replace(FIT, kernel=unbuilt), "guest kernel")
    assert (found.status, found.detail) == ("missing", "it is not built.")
    assert found.remedy == "wavetank kernel build"


def test_forbidden_namespaces_weaken_the_protection_and_say_which_setting() -> None:
    machine = msgspec.structs.replace(
        FIT,
        namespaces_allowed=False,
        restricting_settings=("kernel.apparmor_restrict_unprivileged_userns=0",),
    )
    found = finding(machine, "isolation")
    assert found.status == "optional"
    assert "your own rights" in found.detail
    assert found.remedy == "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"


@pytest.mark.parametrize(("scope", "status"), [(None, "ok"), (0, "ok"), (1, "ok"), (2, "missing")])
def test_a_ptrace_scope_that_stops_the_guest_is_told(scope: int | None, status: str) -> None:
    machine = msgspec.structs.replace(FIT, ptrace_scope=scope)
    assert finding(machine, "tracing").status == status


def test_too_little_memory_is_told_with_what_is_there() -> None:
    machine = msgspec.structs.replace(FIT, available_memory_bytes=1 << 30)
    found = finding(machine, "memory")
    assert found.status == "missing"
    assert "1.0 GiB" in found.detail


def test_a_small_or_unexecutable_shm_matters_only_without_namespaces() -> None:
    small = msgspec.structs.replace(FIT, scratch_free_bytes=64 << 20, scratch_is_executable=False)
    assert finding(small, "/dev/shm").status == "ok"
    caged_by_rights = msgspec.structs.replace(small, namespaces_allowed=False)
    found = finding(caged_by_rights, "/dev/shm")
    assert found.status == "missing"
    assert "noexec" in found.detail
    assert "remount,exec" in (found.remedy or "")


def test_every_finding_that_is_not_ok_has_a_remedy() -> None:
    bare = Machine(
        programs={},
        kernel=Shipped("guest kernel", False, "not built"),
        binaries=(Shipped("wavetank-load", False, "not built"),),
        available_memory_bytes=0,
        cores=1,
        namespaces_allowed=False,
        is_root=False,
        restricting_settings=(),
        ptrace_scope=3,
        scratch_is_executable=None,
        scratch_free_bytes=None,
    )
    findings = [f for f in doctor.examine(bare) if f.status != "ok"]
    assert len(findings) == len(doctor.programs()) + 6
    assert all(f.remedy for f in findings)


def test_looking_at_this_machine_changes_nothing_and_never_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    machine = Machine.here(scratch=tmp_path)
    assert not machine.kernel.there
    assert machine.cores >= 1
    assert list(tmp_path.iterdir()) == []
