"""Claims about study files: what is read, and where and how every mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from wavetank.conduct.catalogue import Rooms
from wavetank.errors import ExitCode
from wavetank.study import study_file
from wavetank.study.errors import StudyFileError
from wavetank.study.study import Source, Study

EXAMPLE = """\
title = "Small files"
question = "Which system reads small files fastest?"
source = "H14 figure 4.5"
repeats = 3
findings = ["thr-1"]

[[part]]
systems = ["nfs4.2:nconnect=8", "iscsi"]
networks = ["ideal-100", "realistic/cc=bbr"]
workload = "batch"
[part.parameters]
file-size = "4KiB"
threads = [1, 64]
operation = ["read"]
verify = true

[[plot]]
title = "By threads"
x = "threads"
series = ["system", "access"]
where = { operation = "read", file-size = ["4KiB"] }

[[published]]
system = "iscsi:sessions=2"
network = "ideal-100"
quantity = "throughput_bytes_per_s"
value = 4
unit = "MiB/s"
relation = "below"
source = "H14 4.6.2"
parameters = { file-size = "4KiB", threads = 64, operation = "read" }
"""


def read(text: str) -> Study:
    return study_file.parse(text, "mine.toml", "mine", Rooms())


def error_of(text: str) -> str:
    with pytest.raises(StudyFileError) as caught:
        read(text)
    assert caught.value.exit_code is ExitCode.USAGE
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return message


def test_a_study_is_read_with_every_name_resolved() -> None:
    study = read(EXAMPLE)
    assert study.source == Source(paper="H14", place="figure 4.5")
    (part,) = study.parts
    assert part.name == "batch"
    assert part.parameters == {
        "file-size": ["4KiB"],
        "threads": ["1", "64"],
        "operation": ["read"],
        "verify": ["yes"],
    }
    (plot,) = study.plots
    assert plot.series == ["system", "access"]
    assert plot.where == {"operation": ["read"], "file_size_bytes": [4096]}


def test_a_published_value_is_in_base_units_and_as_printed() -> None:
    (one,) = read(EXAMPLE).published
    assert (one.value, one.printed, one.unit) == (4 * 2**20, 4.0, "MiB/s")
    assert (one.system, one.options, one.network) == ("iscsi", {"sessions": 2}, "ideal-100")
    assert one.parameters == {"file_size_bytes": 4096, "threads": 64, "operation": "read"}
    assert one.relation == "below"


def test_what_is_left_out_has_the_documented_default() -> None:
    study = read(
        'title="t"\nquestion="q"\n[[part]]\nsystems=["local"]\nnetworks=["ideal-100"]\n'
        'workload="single-file"\n'
    )
    assert (study.clock, study.seed, study.repeats, study.disk) == ("virtual", 1, 1, "ssd")
    assert (study.cache_state, study.trial_deadline_s) == ("cold-client-warm-server", 900.0)
    assert (study.source, study.plots, study.published) == (None, [], [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        # what is written, what replaces it, the place, and what is said
        (
            ('systems = ["nfs4.2:nconnect=8", "iscsi"]', 'systems = ["nfs4.2", "iscs"]'),
            ":8:22: no system is called 'iscs'; did you mean iscsi?",
        ),
        (
            ("nconnect=8", "nconect=8"),
            ":8:12: nfs4.2 has no parameter 'nconect'; did you mean nconnect?",
        ),
        (('ideal-100", "real', 'ideal-10", "real'), ":9:13: network 'ideal-10'"),
        (
            ('workload = "batch"', 'workload = "btach"'),
            ":10:12: no workload is called 'btach'; did you mean batch?",
        ),
        (("threads = [1, 64]", "threads = [1, 65]"), ":13:15: '65' is more than 64"),
        (
            ("threads = [1, 64]", "treads = [1, 64]"),
            ":13:10: batch has no parameter 'treads'; did you mean threads?",
        ),
        (("threads = [1, 64]", "threads = []"), ":13:11: threads has no values"),
        (('file-size = "4KiB"\n', 'file-size = "4KX"\n'), ":12:13: size '4KX' is not understood"),
        (
            ('file-size = "4KiB"\n', 'file-size = 5000\naccess = "direct"\n'),
            ":7:1: batch: direct access needs",
        ),
        (("repeats = 3", "repeats = 0"), ":4:11: repeats must be at least 1, not 0."),
        (
            ("repeats = 3", 'repeats = "3"'),
            ":4:11: this must be a whole number, not text in quotes.",
        ),
        (
            ("repeats = 3", "repeats = 3.5"),
            ":4:11: this must be a whole number, not a number with a point.",
        ),
        (
            ("repeats = 3", "repaets = 3"),
            ":4:11: 'repaets' means nothing here; did you mean repeats?",
        ),
        (("repeats = 3", 'disk = "sdd"'), ":4:8: no disk is called 'sdd'; did you mean ssd?"),
        (
            ("repeats = 3", 'clock = "vitrual"'),
            ":4:9: 'vitrual' is not known here; did you mean virtual?",
        ),
        (("repeats = 3", 'syscall-cost = "2"'), ":4:16: duration '2' is not understood"),
        (("repeats = 3", 'findings = "thr-1"'), ":5:"),
        (('["thr-1"]', '["threads"]'), ":5:13: 'threads' is not a finding's id"),
        (('title = "Small files"\n', ""), ":1:1: 'title' is missing; write for example title"),
        (('workload = "batch"\n', ""), ":7:1: 'workload' is missing"),
        (
            ('systems = ["nfs4.2:nconnect=8", "iscsi"]', 'systems = "iscsi"'),
            ":8:11: this must be a list in [ ], not text in quotes.",
        ),
        (('systems = ["nfs4.2:nconnect=8", "iscsi"]', "systems = []"), ":8:11: systems is empty"),
        (
            ('x = "threads"', 'x = "thread"'),
            ":19:5: 'thread' is nothing to plot by; did you mean threads?",
        ),
        (
            ('x = "threads"', 'x = "threads"\ny = "throughput"'),
            ":20:5: 'throughput' is not known here; did you mean throughput_bytes_per_s?",
        ),
        (
            ('x = "threads"', 'x = "threads"\nmodel = "single"'),
            ":20:9: 'single' is not known here; did you mean single-read?",
        ),
        (
            ('x = "threads"', 'x = "threads"\nparts = ["bach"]'),
            ":20:10: no part is called 'bach'; did you mean batch?",
        ),
        (("where = { operation", "where = { opration"), ":21:22: 'opration' is nothing to plot by"),
        (
            ('unit = "MiB/s"', 'unit = "MiB"'),
            ":28:8: 'MiB' is no unit of throughput_bytes_per_s; there are B/s",
        ),
        (('relation = "below"', 'relation = "less"'), ":29:12: 'less' is not known here"),
        (
            ("threads = 64, op", "thread = 64, op"),
            ":31:45: no part has 'thread'; did you mean threads?",
        ),
        (("repeats = 3", "repeats = "), ":4:11: is not TOML here"),
        (
            ("repeats = 3", "repeats = three"),
            ":4:11: is not TOML here: Invalid value. Text stands in quotes: ",
        ),
        (("repeats = 3", "repeats = 3\nrepeats = 4"), ":5:"),
        (('source = "H14 4.6.2"\n', ""), ":23:1: 'source' is missing"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    change: tuple[str, str], said: str
) -> None:
    old, new = change
    assert old in EXAMPLE
    assert f"mine.toml{said}" in error_of(EXAMPLE.replace(old, new, 1))


def test_a_file_cut_off_is_an_error_at_its_end() -> None:
    assert error_of('title = "t"\nnotes = ["a",').startswith("mine.toml:2:14: is not TOML here")


def test_two_parts_need_names_and_different_ones() -> None:
    part = 'systems=["local"]\nnetworks=["ideal-100"]\nworkload="batch"\n'
    head = 'title="t"\nquestion="q"\n'
    assert ":3:1: this part has no name" in error_of(f"{head}[[part]]\n{part}[[part]]\n{part}")
    named = f'[[part]]\nname="a"\n{part}'
    assert ":9:6: two parts are called 'a'" in error_of(head + named + named)


def test_a_study_without_parts_is_told_what_a_part_is() -> None:
    assert "[[part]]" in error_of('title="t"\nquestion="q"\n')
    assert "[[part]]" in error_of('title="t"\nquestion="q"\npart=[]\n')


def test_a_file_that_is_not_there_or_not_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudyFileError, match=r"none\.toml: cannot be read: No such file"):
        study_file.read(tmp_path / "none.toml", Rooms())
    (tmp_path / "image.toml").write_bytes(b"\xff\xd8")
    with pytest.raises(StudyFileError, match=r"image\.toml: is not UTF-8"):
        study_file.read(tmp_path / "image.toml", Rooms())


def test_a_studys_own_name_is_its_files(tmp_path: Path) -> None:
    path = tmp_path / "small-files.toml"
    path.write_text(EXAMPLE)
    assert study_file.read(path, Rooms()).id == "small-files"


CLIENT = EXAMPLE.replace('"batch"', '"object"').replace(
    """systems = ["nfs4.2:nconnect=8", "iscsi"]
networks = ["ideal-100", "realistic/cc=bbr"]
""",
    """systems = ["s3"]
networks = ["ideal-100"]
client-disk = ["c16-magnetic", "ssd:completion=1ms"]
client-memory = "240MiB"
""",
)
CLIENT = CLIENT[: CLIENT.index("file-size")] + (
    """operation = "get"

[[plot]]
title = "By disk"
x = "client_disk"
series = ["client_memory_bytes"]
panels = []

[[published]]
system = "s3"
quantity = "overall_bytes_per_s"
client-disk = "c16-magnetic"
client-memory = "240MiB"
value = 28.9
unit = "MB/s"
source = "C16 IV-B2"
"""
)


def test_a_part_declares_the_clients_disk_and_memory() -> None:
    study = read(CLIENT)
    (part,) = study.parts
    assert part.client_disks == ["c16-magnetic", "ssd:completion=1ms"]
    assert part.client_memory == ["240MiB"]
    (one,) = study.published
    assert (one.client_disk, one.client_memory_bytes) == ("c16-magnetic", 240 << 20)


@pytest.mark.parametrize(
    ("old", "new", "where", "said"),
    [
        ('"c16-magnetic", "ssd', '"c16-magnetc", "ssd', ":10:16: ", "did you mean c16-magnetic"),
        ('client-memory = "240MiB"\nw', 'client-memory = "1MiB"\nw', ":11:17: ", "16MiB"),
        ('client-memory = "240MiB"\nw', "w", ":7:1: ", "goes with client-memory"),
        ('source = "H14 figure 4.5"', 'place = "host"', ":3:9: ", 'clock = "real"'),
        ('source = "H14 figure 4.5"', 'place = "moon"', ":3:9: ", "'moon' is not known"),
    ],
)
def test_a_client_that_cannot_be_meant_is_told_with_its_place(
    old: str, new: str, where: str, said: str
) -> None:
    assert old in CLIENT
    told = error_of(CLIENT.replace(old, new, 1))
    assert said in told
    assert where in told
