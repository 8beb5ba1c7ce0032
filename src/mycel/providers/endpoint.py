"""One endpoint of a vendor's interface: a bounded question, a bounded answer, a few tries."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from mycel.errors import Misconfigured, MycelError, Unavailable, install_command

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI


ResultT = TypeVar("ResultT")

# Closing waits for a name lookup under way, which nothing can cut off; nobody should wait for that for long.
CLOSING_SECONDS = 5.0


class LoopThread:
    """Started by its first use; a blocking socket would not do, since a server that sends a byte a second resets its
    time-out each time, and a name lookup has none."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def run(self, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """The work's answer or error; the work bounds its own time."""
        with self._lock:
            loop = self._running_loop()
            future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return future.result()
        except CancelledError:
            raise self._closed() from None

    def close(self) -> None:
        """Whoever still waits gets `Unavailable`."""
        with self._lock:
            self._is_closed = True
            loop, self._loop = self._loop, None
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise self._closed()
        if self._loop is None:
            started: Future[asyncio.AbstractEventLoop] = Future()
            # A daemon: a program that forgets to close must still be able to end.
            self._thread = threading.Thread(target=_serve, args=(started,), name=self._name, daemon=True)
            self._thread.start()
            self._loop = started.result()
        return self._loop

    def _closed(self) -> Unavailable:
        return Unavailable(f"{self._name} was closed")


def _serve(started: Future[asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        started.set_result(loop)
        loop.run_forever()


TRIES = 3
# Between tries, when the endpoint does not say how long; the second pause is twice as long.
PAUSE_SECONDS = 0.25
# The next try would give the same answer.
LATER_SECONDS = 60.0
PASSING_STATUSES = frozenset({408, 429})
# Another way to ask may do, if there is one; anything else that is refused stays refused.
BAD_REQUEST_STATUSES = frozenset({400, 422})
# The vendors' clients add headers from variables of their own (OPENAI_ORG_ID, ANTHROPIC_CUSTOM_HEADERS) and describe
# the machine; none of it goes to a host that the settings did not mean it for.
SENT_HEADERS = frozenset(
    {"host", "connection", "content-type", "content-length", "transfer-encoding", "accept", "user-agent"}
    # Not for the other side: the clients look at it again when the answer comes.
    | {"x-stainless-raw-response"}
)


class Client(Protocol):
    async def close(self) -> None: ...


class Answer(Protocol):
    def iter_bytes(self) -> AsyncIterator[bytes]: ...


ClientT = TypeVar("ClientT", bound=Client)
Question = Callable[[ClientT], AbstractAsyncContextManager[Answer]]


@dataclass(frozen=True, slots=True)
class Connection(Generic[ClientT]):
    """A vendor's client, and what it raises when the connection fails."""

    client: ClientT
    errors: tuple[type[Exception], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Generic[ClientT]):
    """What endpoints differ in: the client, its headers, and the words and settings an operator knows it by."""

    name: str
    choice: str
    settings: str
    hint: str
    # The address, the key and the HTTP client to use.
    connect: Callable[[str, str, httpx2.AsyncClient], Connection[ClientT]]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    # Waiting longer inside one call helps nobody: whoever asked can ask again.
    longest_pause: float = 4.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The body of an answer, and which of the questions it answers."""

    number: int
    body: bytes


class Endpoint(Generic[ClientT]):
    """Safe from any thread. Its errors hold neither the key nor a text, and nothing of what the endpoint said."""

    def __init__(self, service: Service[ClientT], *, url: str, key: str | None, connect_seconds: float) -> None:
        self._service = service
        self._url = _checked_url(url, setting=f"{service.settings}_URL")
        self._key = _checked_key(key, setting=f"{service.settings}_KEY")
        self._connect_seconds = connect_seconds
        self._connection: Connection[ClientT] | None = None
        self._connection_lock = threading.Lock()
        self._is_closed = False
        self.name = f"{service.name} {urlsplit(self._url).netloc}"
        self._loop = LoopThread(self.name)

    def ask(self, questions: Sequence[Question[ClientT]], *, seconds: float, most_bytes: int) -> Reply:
        """To the first of the questions that the endpoint does not call a bad request.

        `Unavailable` after `seconds` at the latest, tries and pauses included.
        """
        connection = self._connected()
        asking = _Asking(self.name, connection, most_bytes=most_bytes, longest_pause=self._service.longest_pause)
        return self._loop.run(lambda: self._within(seconds, asking=asking, questions=questions))

    def close(self) -> None:
        with self._connection_lock:
            connection, self._connection = self._connection, None
            self._is_closed = True
        if connection is not None:
            self._loop.run(connection.client.close)
        self._loop.close()

    def _connected(self) -> Connection[ClientT]:
        with self._connection_lock:
            if self._is_closed:
                raise Unavailable(f"{self.name} was closed")
            if self._connection is None:
                self._connection = self._connect()
            return self._connection

    def _connect(self) -> Connection[ClientT]:
        try:
            import httpx2

            hooks = {"request": [self._keep_to_the_settings], "response": [self._refuse_failures]}
            # Only connecting has a time-out of its own: `ask` bounds the rest.
            http = httpx2.AsyncClient(event_hooks=hooks, timeout=httpx2.Timeout(None, connect=self._connect_seconds))
            return self._service.connect(self._url, self._key or "none", http)
        except ImportError as error:
            needed = f"`{self._service.choice}` needs the {error.name} package: {install_command('llm')}"
            raise Misconfigured(needed) from None

    async def _within(
        self, seconds: float, *, asking: _Asking[ClientT], questions: Sequence[Question[ClientT]]
    ) -> Reply:
        give_up_at = asyncio.get_running_loop().time() + seconds
        status = 0
        try:
            async with asyncio.timeout_at(give_up_at):
                for number, question in enumerate(questions):
                    try:
                        return Reply(number, await asking.try_to_read(question, give_up_at=give_up_at))
                    except _BadRequest as error:
                        status = error.status
        except TimeoutError:
            raise Unavailable(f"{self.name} did not answer within {seconds:g} s") from None
        raise Misconfigured(f"{self.name} refuses the request with status {status}; see {self._service.hint}")

    async def _keep_to_the_settings(self, request: httpx2.Request) -> None:
        for header in set(request.headers) - SENT_HEADERS:
            del request.headers[header]
        # An answer that unpacks to many times its size could not be bounded.
        request.headers["Accept-Encoding"] = "identity"
        request.headers.update(self._service.headers)
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"

    async def _refuse_failures(self, response: httpx2.Response) -> None:
        """Raised here, before the client follows a redirect to another host or reads the endless body of a failure."""
        status = response.status_code
        if status in PASSING_STATUSES or status >= 500:
            raise Unavailable(f"{self.name} answered with status {status}", retry_after=_wanted_pause(response))
        if status in BAD_REQUEST_STATUSES:
            raise _BadRequest(status)
        if status != 200:
            raise Misconfigured(f"{self.name} {self._refusal(status)}")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise Unavailable(f"{self.name} packs its answers though told not to", retry_after=LATER_SECONDS)

    def _refusal(self, status: int) -> str:
        settings = self._service.settings
        if status in (401, 403):
            return f"refuses the key (status {status}); see {settings}_KEY"
        if status == 404:
            return f"does not know the model or the address (status 404); see {settings}_MODEL and _URL"
        return f"refuses the request with status {status}; see {self._service.hint}"


class _BadRequest(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


@dataclass(frozen=True, slots=True)
class _Asking(Generic[ClientT]):
    """How one call reads an answer."""

    name: str
    connection: Connection[ClientT]
    most_bytes: int
    longest_pause: float

    async def try_to_read(self, question: Question[ClientT], *, give_up_at: float) -> bytes:
        for number in range(1, TRIES):
            try:
                return await self._read(question)
            except Unavailable as error:
                pause = number * error.retry_after
                if pause > self.longest_pause or asyncio.get_running_loop().time() + pause >= give_up_at:
                    raise
            await asyncio.sleep(pause)
        return await self._read(question)

    async def _read(self, question: Question[ClientT]) -> bytes:
        import httpx2

        body = bytearray()
        try:
            async with question(self.connection.client) as answer:
                async for chunk in answer.iter_bytes():
                    body += chunk
                    if len(body) > self.most_bytes:
                        text = f"{self.name} answered with more than {self.most_bytes} bytes"
                        raise Unavailable(text, retry_after=LATER_SECONDS)
        except (*self.connection.errors, httpx2.HTTPError) as error:
            raise self._meaning(error) from None
        return bytes(body)

    def _meaning(self, error: Exception) -> Exception:
        import httpx2

        cause = error.__cause__
        # One vendor's client takes what `_refuse_failures` raises for a broken connection.
        if isinstance(cause, MycelError | _BadRequest):
            return cause
        lost = "broke the connection off"
        if isinstance(cause, httpx2.TimeoutException):
            lost = "cannot be reached in time"
        elif isinstance(cause, httpx2.ConnectError):
            lost = "cannot be reached"
        return Unavailable(f"{self.name} {lost}", retry_after=PAUSE_SECONDS)


def _wanted_pause(response: httpx2.Response) -> float:
    """What `Retry-After` says in seconds; its other form, a date, is as good as none."""
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return PAUSE_SECONDS
    return seconds if PAUSE_SECONDS <= seconds <= 3600 else PAUSE_SECONDS


def _checked_url(url: str, *, setting: str) -> str:
    problem = f"{setting} must be like http://localhost:11434/v1, without name or password"
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise Misconfigured(problem) from None
    if not is_good or "@" in parts.netloc or not _is_plain(url):
        raise Misconfigured(problem)
    return url


def _checked_key(key: str | None, *, setting: str) -> str | None:
    """The errors of the HTTP client about a header it cannot send would show the key."""
    if key is not None and not _is_plain(key):
        raise Misconfigured(f"{setting} holds characters that no key has")
    return key


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


OPENAI_URL = "https://api.openai.com/v1"


def connect_openai(url: str, key: str, http: httpx2.AsyncClient) -> Connection[AsyncOpenAI]:
    from openai import APIConnectionError, AsyncOpenAI

    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0, http_client=http, timeout=http.timeout)
    return Connection(client, (APIConnectionError,))
