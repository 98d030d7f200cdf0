"""A measurement of the user's own object storage, from words to report."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console

from wavetank import quantity
from wavetank.cli import benching
from wavetank.cli.benching import BenchWays, BenchWords
from wavetank.cli.grid import grid_of
from wavetank.cli.progress import progress_of
from wavetank.conduct import on_store
from wavetank.conduct.on_host_tools import find_host_tools
from wavetank.conduct.on_store_place import (
    Address,
    StoreRefused,
    parse_address,
    require_endpoint,
)
from wavetank.conduct.on_store_plan import StoreRequest, make_store_plan
from wavetank.errors import ExitCode, UsageError
from wavetank.runs import directory
from wavetank.runs.directory import Run
from wavetank.runs.records import Plan
from wavetank.systems.endpoint import Dialect

# Where the endpoint may stand as well: as the protocols' own command lines have it.
_ENDPOINT_NAMES: dict[Dialect, tuple[str, ...]] = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "swift": ("ST_AUTH", "OS_AUTH_URL"),
}
_WORKLOAD = "object"


class StoreWords(msgspec.Struct, frozen=True, kw_only=True):
    """The options that say where the objects are and who asks; no credentials are among them."""

    endpoint: str | None
    region: str | None
    style: str
    auth: str
    credentials: Path | None
    ca_file: Path | None


def bench(words: BenchWords, store: StoreWords, ways: BenchWays) -> ExitCode:
    """Measures or goes on measuring, writes the report, prints tables or JSON."""
    if words.cache_state is not None:
        raise UsageError(
            "--cache-state is for directories: over REST the client has no cache, and the "
            "service's own is out of reach."
        )
    address = address_of(words.path, store)
    run = _resumed(address, ways) if ways.resume else _started(address, words, store, ways)
    return benching.told(run, ways)


def clean_up(path: str, store: StoreWords) -> ExitCode:
    """Removes what killed runs left at the address, and says what it was."""
    Console(soft_wrap=True, highlight=False, markup=False).print(
        on_store.clean(address_of(path, store), find_host_tools())
    )
    return ExitCode.FINE


def address_of(text: str, store: StoreWords) -> Address:
    """Where it is; raises StoreRefused for what can't be meant."""
    protocol, container, prefix = parse_address(text)
    endpoint = store.endpoint or next(
        (os.environ[name] for name in _ENDPOINT_NAMES[protocol] if os.environ.get(name)), None
    )
    if endpoint is None:
        names = " or ".join(_ENDPOINT_NAMES[protocol])
        raise StoreRefused(
            f"{text} says no endpoint; name it: --endpoint URL "
            f"({_EXAMPLES[protocol]}), or set {names}."
        )
    for name, path in (("--credentials", store.credentials), ("--ca-file", store.ca_file)):
        if path is not None and not path.is_file():
            raise StoreRefused(f"{name} {path} is not a file.")
    return Address(
        protocol=protocol,
        container=container,
        prefix=prefix,
        endpoint=require_endpoint(endpoint),
        region=store.region,
        style=store.style,
        auth=store.auth,
        credentials_file=str(store.credentials.absolute()) if store.credentials else None,
        ca_file=str(store.ca_file.absolute()) if store.ca_file else None,
    )


_EXAMPLES: dict[Dialect, str] = {
    "s3": "https://s3.eu-central-1.amazonaws.com",
    "swift": "https://swift.example.com/auth/v1.0, or Keystone's with --auth v3",
}


def _started(address: Address, words: BenchWords, store: StoreWords, ways: BenchWays) -> Run:
    plan = plan_of(address, words, store)
    out = ways.out or directory.default_path("bench", datetime.now(UTC))
    directory.refuse_if_taken(out)
    tools = find_host_tools()
    with (
        on_store.place(address, tools) as where,
        progress_of(plan, Console(stderr=True)) as progress,
    ):
        return on_store.start(where, out, plan, tools, progress)


def _resumed(address: Address, ways: BenchWays) -> Run:
    if ways.out is None:
        raise UsageError("--resume needs --out DIR, the run to go on with.")
    run = directory.read(ways.out)
    on_store.require_store_run(run)
    if not run.missing:
        return run
    tools = find_host_tools()
    with (
        on_store.place(address, tools) as where,
        progress_of(run.plan, Console(stderr=True)) as progress,
    ):
        return on_store.resume(where, ways.out, tools, progress)


def plan_of(address: Address, words: BenchWords, store: StoreWords) -> Plan:
    """The plan; raises `UsageError` for what can't be meant."""
    workload = words.workload or _WORKLOAD
    return make_store_plan(
        StoreRequest(
            protocol=address.protocol,
            workload=workload,
            parameters=grid_of(words.grid),
            seed=words.seed,
            repeats=words.repeats,
            trial_deadline_s=quantity.parse_duration(words.trial_deadline) / 1e9,
            question=f"How does {address.url} do in {workload}?",
            command=command_of(address, words, store),
        )
    )


def command_of(address: Address, words: BenchWords, store: StoreWords) -> list[str]:
    """The command that asks for the same."""
    command = [*benching.command_of(words), "--endpoint", address.endpoint]
    for name, value, default in (
        ("--region", store.region, None),
        ("--style", store.style, "path"),
        ("--auth", store.auth, "v1"),
        ("--credentials", store.credentials, None),
        ("--ca-file", store.ca_file, None),
    ):
        command += [name, str(value)] if value is not None and value != default else []
    return command
