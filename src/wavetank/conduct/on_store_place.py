"""Where in a user's object storage is measured: an address, a prefix of its own, and nothing else.

    BUCKET/PREFIX/wavetank-bench-TOKEN/tNNNN/00000000 ...   objects of trial NNNN

What always holds: the prefix is empty before, every object has a key that the load engine gave,
only those are removed, and where one could not be removed the user is told which. What a killed run
left is known by such a key, and removed where the user asks for it. Credentials are
the engine's business: they pass by in its environment or a file, and are never read here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import msgspec

from wavetank.conduct.on_host_engine import Engine, EngineFailed, EngineOverdue
from wavetank.conduct.on_host_rounds import PlaceLost
from wavetank.errors import UsageError
from wavetank.systems.endpoint import Dialect
from wavetank.workloads.object_job import ObjectJob, ObjectPhase, ObjectSet, Store

OWN = "wavetank-bench-"
SCHEMES: dict[str, Dialect] = {"s3": "s3", "swift": "swift"}
# Whether everything is right is asked with less patience than is measured with.
LOOK_SILENCE_NS = 10 * 10**9
LOOK_DEADLINE_S = 60.0
REMOVE_DEADLINE_S = 600.0
REMOVE_THREADS = 8
CLEAN_UP_DEADLINE_S = 3600.0


class StoreRefused(UsageError):
    """The address or the credentials are not such that something could be measured there."""


class StoreLost(PlaceLost):
    """The endpoint can't be used any more."""


class NotRemoved(StoreLost):
    """Objects of ours could not be removed; the message says where they are."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """`s3://BUCKET/PREFIX` or `swift://CONTAINER/PREFIX` at an endpoint, in words."""

    protocol: Dialect
    container: str
    prefix: str
    endpoint: str
    region: str | None = None
    style: str = "path"
    auth: str = "v1"
    credentials_file: str | None = None
    ca_file: str | None = None

    @property
    def url(self) -> str:
        """`s3://BUCKET/PREFIX`"""
        return f"{self.protocol}://{self.container}/{self.prefix}"

    @property
    def told(self) -> str:
        """The place in words, for the record of the environment."""
        return f"none: objects lie in {self.url} at {self.endpoint}"

    def store(self, below: str, *, fresh: bool = False) -> Store:
        """The engine's words for a prefix below ours."""
        store = Store(
            protocol=self.protocol,
            endpoint=self.endpoint,
            container=self.container,
            prefix=f"{self.prefix}/{below}",
            region=self.region,
            credentials_file=self.credentials_file,
            ca_file=self.ca_file,
            fresh=fresh,
        )
        if self.style == "virtual-host":
            store = msgspec.structs.replace(store, style="virtual-host")
        return msgspec.structs.replace(store, auth="v3") if self.auth == "v3" else store


def is_address(text: str) -> bool:
    """Whether `text` means object storage and not a directory."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def parse_address(text: str) -> tuple[Dialect, str, str]:
    """Protocol, container and prefix of `s3://BUCKET/PREFIX`. Raises StoreRefused."""
    scheme, _, rest = text.partition("://")
    container, _, prefix = rest.partition("/")
    prefix = prefix.strip("/")
    if not container:
        raise StoreRefused(f"{text} names no bucket; write {scheme}://BUCKET/PREFIX.")
    if not prefix:
        raise StoreRefused(
            f"{text} names no prefix; bench measures only under one of its own: "
            f"{scheme}://{container}/bench."
        )
    return SCHEMES[scheme], container, prefix


def require_endpoint(text: str) -> str:
    """The endpoint's URL. Raises StoreRefused for one that is none, or holds credentials."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise StoreRefused(f"--endpoint {text}: write a URL, such as https://s3.example.com.")
    if parts.username is not None or parts.password is not None:
        raise StoreRefused(
            "--endpoint holds a user or password; credentials come from the environment or "
            "--credentials FILE, and never stand on the command line."
        )
    return text


class OwnPrefix:
    """Our prefix in the user's, as a context manager; leaving it makes sure that nothing is left.

    Raises StoreRefused where the credentials, region, clock or container are not right, where
    nothing answers, or where the prefix holds something already.
    """

    def __init__(self, address: Address, engine: Engine, token: str | None = None) -> None:
        self.address = address
        self._engine = engine
        self._token = token or secrets.token_hex(6)
        self._dirty = False

    @property
    def name(self) -> str:
        """Below the user's prefix, ending with a slash."""
        return f"{OWN}{self._token}/"

    def __enter__(self) -> OwnPrefix:
        try:
            self._look("")
        except (EngineFailed, EngineOverdue) as error:
            raise StoreRefused(f"{self.address.url}: {error}{self._remedy(str(error))}") from error
        return self

    def __exit__(self, *_: object) -> None:
        if not self._dirty:
            return
        try:
            self._look(self.name)
        except (EngineFailed, EngineOverdue) as error:
            raise NotRemoved(
                f"objects that wavetank made may be left under {self.address.url}/{self.name}, "
                f"because: {error}"
            ) from error

    @contextmanager
    def trial(self, index: int) -> Iterator[TrialObjects]:
        """A prefix for one trial's objects, which are removed afterwards."""
        self._dirty = True
        objects = TrialObjects(self.address.store(f"{self.name}t{index:04}/"))
        try:
            yield objects
        finally:
            self._remove(objects)

    def _remedy(self, said: str) -> str:
        """What to do about what an earlier run left."""
        if f"/{OWN}" not in said:
            return ""
        return (
            "; a run of bench that was killed left them: the same command with --clean-up "
            "removes them."
        )

    def _remove(self, objects: TrialObjects) -> None:
        if objects.most is None:
            return
        phase = ObjectPhase(
            name="remove",
            action="delete",
            threads=min(REMOVE_THREADS, objects.most.objects),
            part_bytes=objects.part_bytes,
        )
        job = ObjectJob(seed=0, set=objects.most, phases=[phase], object=objects.store)
        try:
            (record,) = self._engine.do(job, time.monotonic() + REMOVE_DEADLINE_S)
            failed = record.operations[0].errors
            if objects.part_bytes is not None:
                # An upload that the engine was ended in is no object that could be deleted.
                clear(self._engine, objects.store, REMOVE_DEADLINE_S)
        except (EngineFailed, EngineOverdue) as error:
            raise self._not_removed(objects, str(error)) from error
        if failed:
            told = ", ".join(f"{count} with {name}" for name, count in failed.items())
            raise self._not_removed(objects, f"requests failed, {told}")

    def _not_removed(self, objects: TrialObjects, why: str) -> NotRemoved:
        where = f"{self.address.protocol}://{self.address.container}/{objects.store.prefix}"
        return NotRemoved(f"objects under {where} could not be removed: {why}.")

    def _look(self, below: str) -> None:
        """Whether everything is right and nothing is there."""
        store = msgspec.structs.replace(
            self.address.store(below, fresh=True), silence_timeout_ns=LOOK_SILENCE_NS, retries=1
        )
        phase = ObjectPhase(name="look", action="list", max_items=1)
        one = ObjectSet(objects=1, object_size_bytes=0)
        job = ObjectJob(seed=0, set=one, phases=[phase], object=store)
        self._engine.do(job, time.monotonic() + LOOK_DEADLINE_S)


def clear(engine: Engine, store: Store, deadline_s: float) -> None:
    """Removes what bench put under the store's prefix: objects, parts, unfinished uploads. Raises
    EngineFailed or EngineOverdue.
    """
    phase = ObjectPhase(name="look", action="list", max_items=1)
    one = ObjectSet(objects=1, object_size_bytes=0)
    job = ObjectJob(
        seed=0, set=one, phases=[phase], object=msgspec.structs.replace(store, clear=True)
    )
    engine.do(job, time.monotonic() + deadline_s)


def clean_up(address: Address, engine: Engine) -> None:
    """Removes what killed runs of bench left under the address. Raises StoreRefused."""
    try:
        clear(engine, address.store(""), CLEAN_UP_DEADLINE_S)
    except (EngineFailed, EngineOverdue) as error:
        raise StoreRefused(f"{address.url}: {error}") from error


class TrialObjects:
    """One trial's prefix, and the most objects that may be there now."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.most: ObjectSet | None = None
        self.part_bytes: int | None = None

    def may_hold(self, job: ObjectJob) -> None:
        """The job is about to write all of its set."""
        phase = job.phases[0]
        if phase.action == "put":
            self.most, self.part_bytes = job.set, phase.part_bytes

    def holds(self, job: ObjectJob, written: int) -> None:
        """The job wrote the first `written` of its set and no more."""
        if job.phases[0].action == "put":
            count = min(written, job.set.objects)
            kept = msgspec.structs.replace(job.set, objects=count)
            self.most = kept if count else None
