"""The few requests a system makes of its own server: a container, some objects, an answer.

Used before anything is measured, inside the server's namespace: to see that the server is up, to
probe how it treats its disk, and to put a set where no plain tree can take it. What is measured
goes through the load engine or a mount. One connection, one request at a time.

S3 is signed with SigV4 (Amazon S3 API reference, "Authenticating requests: header-based"), Swift
with a TempAuth v1 token.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import http.client
import time
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, urlsplit

from wavetank.lab.errors import LabError
from wavetank.systems.endpoint import Endpoint

ANSWER_S = 120.0
Body = bytes | BinaryIO


class Requests:
    """One connection to an endpoint. LabError names the request that was refused, and why."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        parts = urlsplit(endpoint.url)
        self._host = parts.netloc
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=ANSWER_S)
        self._token: dict[str, str] = {}
        self._base = ""
        if endpoint.dialect == "swift":
            self._log_in(parts.path)

    def make_container(self, name: str) -> None:
        """An empty container, or bucket."""
        self._ask("PUT", f"/{name}", b"", 0)

    def put(self, container: str, key: str, body: bytes) -> None:
        """One small object."""
        self._ask("PUT", f"/{container}/{quote(key)}", body, len(body))

    def put_file(self, container: str, key: str, path: Path) -> None:
        """A file as one object."""
        with path.open("rb") as body:
            self._ask("PUT", f"/{container}/{quote(key)}", body, path.stat().st_size)

    def delete(self, container: str, key: str = "") -> None:
        """An object, or the empty container itself."""
        self._ask("DELETE", f"/{container}" + (f"/{quote(key)}" if key else ""), b"", 0)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _log_in(self, path: str) -> None:
        headers = {"X-Auth-User": self._endpoint.user, "X-Auth-Key": self._endpoint.key}
        answer = self._exchange("GET", path, b"", headers)
        self._token = {"X-Auth-Token": answer["X-Auth-Token"]}
        self._base = urlsplit(answer["X-Storage-Url"]).path

    def _ask(self, method: str, path: str, body: Body, size_bytes: int) -> None:
        path = self._base + path
        headers = {"Content-Length": str(size_bytes)}
        if self._endpoint.dialect == "swift":
            headers |= self._token
        else:
            headers |= self._signed(method, path, body)
        self._exchange(method, path, body, headers)

    def _exchange(
        self, method: str, path: str, body: Body, headers: Mapping[str, str]
    ) -> http.client.HTTPMessage:
        try:
            self._connection.request(method, path, body, dict(headers))
            answer = self._connection.getresponse()
            told = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise LabError(f"{method} {path}: the server did not answer: {error}") from error
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            words = " ".join(told.decode(errors="replace").split())[:200]
            raise LabError(f"{method} {path}: {answer.status} {answer.reason} {words}")
        return answer.headers

    def _signed(self, method: str, path: str, body: Body) -> dict[str, str]:
        """SigV4 over host, date and the body's digest (a file's is left unsigned)."""
        now = datetime.datetime.fromtimestamp(time.time(), datetime.UTC)
        moment, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
        digest = hashlib.sha256(body).hexdigest() if isinstance(body, bytes) else "UNSIGNED-PAYLOAD"
        headers = {"host": self._host, "x-amz-content-sha256": digest, "x-amz-date": moment}
        names = ";".join(headers)
        canonical = "\n".join(
            [method, path, "", *(f"{k}:{v}" for k, v in headers.items()), "", names, digest]
        )
        scope = f"{day}/{self._endpoint.region}/s3/aws4_request"
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        to_sign = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashed])
        key = f"AWS4{self._endpoint.key}".encode()
        for part in (day, self._endpoint.region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self._endpoint.user}/{scope}, "
            f"SignedHeaders={names}, Signature={signature}"
        )
        return headers


def put_tree(endpoint: Endpoint, directory: Path) -> None:
    """Every file below `directory` as an object of the endpoint's container."""
    requests = Requests(endpoint)
    try:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                key = str(path.relative_to(directory))
                requests.put_file(endpoint.container, key, path)
    finally:
        requests.close()
