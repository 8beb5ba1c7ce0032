"""One embeddings endpoint that speaks OpenAI's interface: a bounded question, a bounded answer, a few tries."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mycel.errors import Misconfigured, Unavailable
from mycel.providers.loop_thread import LoopThread

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
TRIES = 3
# Between tries, when the endpoint does not say how long; the second pause is twice as long.
PAUSE_SECONDS = 0.25
# Waiting longer inside one call helps nobody: whoever asked can ask again.
LONGEST_PAUSE_SECONDS = 4.0
# The next try would give the same answer.
LATER_SECONDS = 60.0
PASSING_STATUSES = frozenset({408, 429})
# The openai client adds headers from variables of its own (OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS) and describes the
# machine; none of it goes to a host that the settings did not mean it for.
SENT_HEADERS = frozenset(
    {"host", "connection", "content-type", "content-length", "transfer-encoding", "accept", "user-agent"}
    # Not for the other side: the client looks at it again when the answer comes.
    | {"x-stainless-raw-response"}
)


class Endpoint:
    """Safe from any thread. Its errors hold neither the key nor a text, and nothing of what the endpoint said."""

    def __init__(self, url: str | None, *, key: str | None, connect_seconds: float) -> None:
        self._url = _checked_url(url or OPENAI_URL)
        self._key = _checked_key(key)
        self._connect_seconds = connect_seconds
        self._client: AsyncOpenAI | None = None
        self._client_lock = threading.Lock()
        self._is_closed = False
        self.name = f"the embedding endpoint {urlsplit(self._url).netloc}"
        self._loop = LoopThread(self.name)

    def ask(self, request: dict[str, Any], *, seconds: float, most_bytes: int) -> bytes:
        """The body of the answer, `Unavailable` after `seconds` at the latest, tries and pauses included."""
        client = self._connected()
        return self._loop.run(lambda: self._within(seconds, client=client, request=request, most_bytes=most_bytes))

    def close(self) -> None:
        with self._client_lock:
            client, self._client = self._client, None
            self._is_closed = True
        if client is not None:
            self._loop.run(client.close)
        self._loop.close()

    def _connected(self) -> AsyncOpenAI:
        with self._client_lock:
            if self._is_closed:
                raise Unavailable(f"{self.name} was closed")
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> AsyncOpenAI:
        try:
            import httpx2
            from openai import AsyncOpenAI
        except ImportError:
            raise Misconfigured("`embedder = openai` needs the openai package: pip install 'mycel[llm]'") from None
        hooks = {"request": [self._keep_to_the_settings], "response": [self._refuse_failures]}
        # Only connecting has a time-out of its own: `ask` bounds the rest.
        http = httpx2.AsyncClient(event_hooks=hooks, timeout=httpx2.Timeout(None, connect=self._connect_seconds))
        return AsyncOpenAI(
            api_key=self._key or "none", base_url=self._url, max_retries=0, http_client=http, timeout=http.timeout
        )

    async def _within(self, seconds: float, *, client: AsyncOpenAI, request: dict[str, Any], most_bytes: int) -> bytes:
        give_up_at = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(give_up_at):
                return await self._try(client, request=request, most_bytes=most_bytes, give_up_at=give_up_at)
        except TimeoutError:
            raise Unavailable(f"{self.name} did not answer within {seconds:g} s") from None

    async def _try(self, client: AsyncOpenAI, *, request: dict[str, Any], most_bytes: int, give_up_at: float) -> bytes:
        for number in range(1, TRIES):
            try:
                return await self._read(client, request=request, most_bytes=most_bytes)
            except Unavailable as error:
                pause = number * error.retry_after
                if pause > LONGEST_PAUSE_SECONDS or asyncio.get_running_loop().time() + pause >= give_up_at:
                    raise
            await asyncio.sleep(pause)
        return await self._read(client, request=request, most_bytes=most_bytes)

    async def _read(self, client: AsyncOpenAI, *, request: dict[str, Any], most_bytes: int) -> bytes:
        import httpx2
        from openai import APIConnectionError

        body = bytearray()
        try:
            async with client.embeddings.with_streaming_response.create(**request) as answer:
                async for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > most_bytes:
                        text = f"{self.name} answered with more than {most_bytes} bytes"
                        raise Unavailable(text, retry_after=LATER_SECONDS)
        except (APIConnectionError, httpx2.HTTPError) as error:
            raise Unavailable(f"{self.name} {_lost(error)}", retry_after=PAUSE_SECONDS) from None
        return bytes(body)

    async def _keep_to_the_settings(self, request: httpx2.Request) -> None:
        for header in set(request.headers) - SENT_HEADERS:
            del request.headers[header]
        # An answer that unpacks to many times its size could not be bounded.
        request.headers["Accept-Encoding"] = "identity"
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"

    async def _refuse_failures(self, response: httpx2.Response) -> None:
        """Raised here, before the client follows a redirect to another host or reads the endless body of a failure."""
        status = response.status_code
        if status in PASSING_STATUSES or status >= 500:
            raise Unavailable(f"{self.name} answered with status {status}", retry_after=_wanted_pause(response))
        if status != 200:
            raise Misconfigured(f"{self.name} {_refusal(status)}")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unavailable(f"{self.name} packs its answers though told not to", retry_after=LATER_SECONDS)


def _lost(error: Exception) -> str:
    import httpx2
    from openai import APITimeoutError

    if isinstance(error, APITimeoutError):
        return "cannot be reached in time"
    return "cannot be reached" if isinstance(error.__cause__, httpx2.ConnectError) else "broke the connection off"


def _refusal(status: int) -> str:
    if status in (401, 403):
        return f"refuses the key (status {status}); see MYCEL_EMBEDDING_KEY"
    if status == 404:
        return "does not know the model or the address (status 404); see MYCEL_EMBEDDING_MODEL and _URL"
    return f"refuses the request with status {status}; see MYCEL_EMBEDDING_URL, _MODEL and _DIMENSIONS"


def _wanted_pause(response: httpx2.Response) -> float:
    """What `Retry-After` says in seconds; its other form, a date, is as good as none."""
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return PAUSE_SECONDS
    return seconds if PAUSE_SECONDS <= seconds <= 3600 else PAUSE_SECONDS


def _checked_url(url: str) -> str:
    problem = "MYCEL_EMBEDDING_URL must be like http://localhost:11434/v1, without name or password"
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise Misconfigured(problem) from None
    if not is_good or "@" in parts.netloc or not _is_plain(url):
        raise Misconfigured(problem)
    return url


def _checked_key(key: str | None) -> str | None:
    """The errors of the HTTP client about a header it cannot send would show the key."""
    if key is not None and not _is_plain(key):
        raise Misconfigured("MYCEL_EMBEDDING_KEY holds characters that no key has")
    return key


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
