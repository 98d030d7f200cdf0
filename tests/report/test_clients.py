"""Reports of declared clients: told apart in tables, figures and beside what was published."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from sample_runs import cell, run
from sample_study import STUDY

from wavetank import report
from wavetank.analysis import analyse
from wavetank.analysis.wording import condition_text
from wavetank.report.export import table_of
from wavetank.study import disks
from wavetank.study.model import Client
from wavetank.study.study import Plot, Published, Source

MEMORY = 240 << 20


def client(name: str) -> Client:
    disk = msgspec.structs.replace(disks.parse_client(name), size_bytes=1 << 30)
    return Client(disk=disk, memory_bytes=MEMORY)


@pytest.fixture
def page(tmp_path: Path) -> str:
    cells = [
        msgspec.structs.replace(cell(), client=client(name)) for name in ("c16-magnetic", "c16-ssd")
    ]
    published = Published(
        system="nfs4.2",
        quantity="overall_bytes_per_s",
        value=2e6,
        printed=2.0,
        unit="MB/s",
        source=Source(paper="C16", place="IV-B2"),
        client_disk="c16-ssd",
        client_memory_bytes=MEMORY,
    )
    plot = Plot(title="By disk", x="client_disk", y="overall_bytes_per_s", panels=[])
    study = msgspec.structs.replace(
        STUDY, plots=[plot], published=[published], findings=[], parts=[]
    )
    made = run(cells)
    plan = msgspec.structs.replace(made.plan, study=study)
    path = tmp_path / "report.html"
    report.write_html(plan, made.environment, made.trials, made.walls, path)
    header, lines = table_of(analyse(plan, made.trials, made.walls).rows)
    assert [line[header.index("client_disk")] for line in lines] == ["c16-magnetic", "c16-ssd"]
    return path.read_text()


def test_a_published_number_names_the_client_that_it_is_about(page: str) -> None:
    (section,) = re.findall(r'<section id="published">(.*?)</section>', page, re.DOTALL)
    text = re.sub(r"&#39;|&#x27;", "'", section)
    assert "client's disk c16-ssd" in text
    assert "1 cell" in re.sub(r"\s+", " ", text.replace("\u00a0", " "))


def test_a_figure_may_have_the_clients_disk_as_its_axis(page: str) -> None:
    assert "By disk" in page
    assert "c16-magnetic" in page


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("client_disk", "c16-ssd", "client's disk c16-ssd"),
        ("client_memory_bytes", MEMORY, "240 MiB of client's memory"),
        ("client_processors", 0.02, "0.02 processors for the client"),
        ("client_processors", None, "client's processors not limited"),
    ],
)
def test_a_client_in_words(name: str, value: str | float | None, text: str) -> None:
    assert condition_text(name, value) == text
