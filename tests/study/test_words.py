"""Claims about settings in the words of those who write them."""

from __future__ import annotations

import pytest

from wavetank import systems, workloads
from wavetank.study import words
from wavetank.study.parameters import Parameter


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("rsize_bytes", 65536, "rsize=64KiB"),
        ("rsize_bytes", 0, "rsize=auto"),
        ("actimeo_s", -1, "actimeo=auto"),
        ("actimeo_s", 30, "actimeo=30"),
        ("duration_ns", 20_000_000_000, "duration=20s"),
        ("syscall_ns", 10_000, "syscall-cost=10us"),
        ("set_bytes", 2**31, "set-size=2GiB"),
        ("rate_per_s", 100.0, "rate=100"),
        ("verify", True, "verify=yes"),
        ("scheduler", "bfq", "scheduler=bfq"),
    ],
)
def test_a_setting_is_told_as_it_would_be_typed(key: str, value: words.Scalar, text: str) -> None:
    assert words.setting_text(key, value) == text


def parameters() -> list[Parameter]:
    found = [one for name in systems.names() for one in systems.get(name).parameters]
    return found + [one for name in workloads.names() for one in workloads.get(name).parameters]


@pytest.mark.parametrize("parameter", parameters(), ids=lambda one: one.name)
def test_every_parameter_is_told_by_its_own_name(parameter: Parameter) -> None:
    assert words.name_of(parameter.key) == parameter.name


@pytest.mark.parametrize("parameter", parameters(), ids=lambda one: one.name)
def test_a_default_can_be_typed_again(parameter: Parameter) -> None:
    if parameter.default in ("file", ""):
        pytest.skip("follows from another parameter")
    value = parameter.parse(parameter.default)
    assert parameter.parse(words.value_of(parameter.key, value)) == value
