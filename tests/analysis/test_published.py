"""Claims about our numbers beside the published ones, and what a study comes to."""

from __future__ import annotations

import pytest
from sample_rows import IDEAL, KIB, LATENCY, UNITS, row

from wavetank.analysis.findings import judge_claims
from wavetank.analysis.published import BesidePublished, beside_published
from wavetank.analysis.rows import CellRow
from wavetank.analysis.studies import analyse_study, findings_sentence
from wavetank.study.study import Part, Published, Source, Study

SOURCE = Source(paper="H14", place="4.6.2")


def published(**changes: object) -> Published:
    asked: dict[str, object] = {
        "system": "nfs3",
        "quantity": "throughput_bytes_per_s",
        "value": 4e6,
        "printed": 4.0,
        "unit": "MB/s",
        "source": SOURCE,
        **changes,
    }
    return Published(**asked)  # type: ignore[arg-type]


def reads(system: str, rate: float) -> CellRow:
    return row(system, LATENCY, "batch", "read", rate, file_size_bytes=4 * KIB, threads=1)


def beside(one: Published, *rows: CellRow) -> BesidePublished:
    (found,) = beside_published([one], rows, [])
    return found


@pytest.mark.parametrize(
    ("relation", "rate", "agrees"),
    [
        ("below", 3e6, True),
        ("below", 5e6, False),
        ("above", 5e6, True),
        ("about", 4.8e6, True),
        ("about", 6e6, False),
        ("equal", 4.1e6, True),
        ("equal", 4.8e6, False),
    ],
)
def test_the_relation_decides_what_agrees(relation: str, rate: float, agrees: bool) -> None:
    found = beside(published(relation=relation), reads("nfs3", rate))
    assert found.agrees is agrees
    assert found.ratio == pytest.approx(rate / 4e6)


def test_a_number_is_about_the_cells_that_match_all_it_states() -> None:
    one = published(network="latency-50", parameters={"operation": "read", "threads": 1})
    assert beside(one, reads("nfs3", 2e6), reads("iscsi", 9e6)).ours == 2e6
    assert beside(published(network="ideal-100"), reads("nfs3", 2e6)).ours is None
    assert beside(published(parameters={"threads": 2}), reads("nfs3", 2e6)).agrees is None


def test_fixed_overhead_comes_from_the_fitted_model() -> None:
    rows = [
        row(
            "iscsi",
            IDEAL,
            "single-file",
            "read",
            1e6,
            amplification=1.05 + 148 * KIB / size,
            file_size_bytes=size,
        )
        for size in UNITS
    ]
    study = Study(
        id="h14/fig4.9",
        title="Amplification",
        question="?",
        parts=[Part(name="all", systems=[], networks=[], workload="single-file")],
        findings=["amp-1", "amp-2"],
        published=[published(system="iscsi", quantity="fixed_overhead_bytes", value=148.0 * KIB)],
    )
    found = analyse_study(study, rows)
    assert found.published[0].ours == pytest.approx(148 * KIB)
    assert [one.verdict for one in found.findings] == ["reproduced", "not judged"]
    assert len(found.fits) == 1
    assert findings_sentence(found.findings) == (
        "Of 2 published findings 1 is reproduced and 1 is not judged."
    )


def test_no_claims_make_no_sentence() -> None:
    assert findings_sentence(judge_claims([], [])) == ""
