"""Names that tell the points of one plan apart: systems, networks and disks of equal name get
what differs between them appended as a user would write it (`nfs3:rsize=64KiB:wsize=64KiB`); what
is left to the software is not told, and unique names stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wavetank.study import words
from wavetank.study.model import Cell, Disk, Network, SystemChoice, canonical_json

Scalar = str | int | float | bool | None
Named = SystemChoice | Network | Disk


class Labels(msgspec.Struct, frozen=True):
    """Label by canonical JSON, one mapping for each kind of thing that has a name."""

    by_record: Mapping[bytes, str]

    def of(self, record: Named) -> str:
        return self.by_record[canonical_json(record)]


def label_cells(cells: Iterable[Cell]) -> Labels:
    """Labels of every system, network and disk of `cells`."""
    systems: dict[bytes, Named] = {}
    networks: dict[bytes, Named] = {}
    disks: dict[bytes, Named] = {}
    for cell in cells:
        systems[canonical_json(cell.system)] = cell.system
        networks[canonical_json(cell.network)] = cell.network
        disks[canonical_json(cell.disk)] = cell.disk
    by_record: dict[bytes, str] = {}
    for kind in (systems, networks, disks):
        by_record.update(_label_kind(kind))
    return Labels(by_record)


def _label_kind(records: Mapping[bytes, Named]) -> dict[bytes, str]:
    by_name: dict[str, list[bytes]] = {}
    for key, record in records.items():
        by_name.setdefault(record.name, []).append(key)
    labels: dict[bytes, str] = {}
    for name, keys in by_name.items():
        for key, suffix in zip(keys, _suffixes([records[key] for key in keys]), strict=True):
            labels[key] = f"{name}:{suffix}" if suffix else name
    return labels


def _suffixes(records: Sequence[Named]) -> list[str]:
    settings = [_settings(record) for record in records]
    keys = sorted({key for one in settings for key in one})
    differing = [key for key in keys if len({repr(one.get(key)) for one in settings}) > 1]
    if isinstance(records[0], SystemChoice):
        # A setting that goes only with another one's value is told by that.
        own = [key for key in differing if len(_values(key, settings)) > 1]
        suffixes = _told(own, settings)
        if len(set(suffixes)) == len(suffixes):
            return suffixes
    return _told(differing, settings)


def _values(key: str, settings: Sequence[Mapping[str, Scalar]]) -> set[str]:
    return {repr(one[key]) for one in settings if key in one}


def _told(keys: Sequence[str], settings: Sequence[Mapping[str, Scalar]]) -> list[str]:
    return [
        ":".join(
            words.setting_text(key, one[key])
            for key in keys
            if key in one and not words.is_automatic(key, one[key])
        )
        for one in settings
    ]


def _settings(record: Named) -> dict[str, Scalar]:
    if isinstance(record, SystemChoice):
        return dict(record.options)
    settings = dict(_flat("", msgspec.to_builtins(record)))
    if isinstance(record, Disk):
        # As large as the set needs: what follows from another setting tells nothing apart.
        del settings["size_bytes"]
    return settings


def _flat(prefix: str, value: object) -> Iterable[tuple[str, Scalar]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif isinstance(value, list | tuple):
        yield prefix, "/".join(str(item) for item in value)
    elif isinstance(value, str | int | float | bool) or value is None:
        yield prefix, value


def scalar_text(value: Scalar) -> str:
    """A setting as it would be typed: `yes` and `no` for booleans."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
