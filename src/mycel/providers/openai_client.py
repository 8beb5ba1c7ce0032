"""The official client of OpenAI, for its own address or any other that speaks its interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mycel.providers.endpoint import Connection

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"


def connect_openai(url: str, key: str, http: httpx2.AsyncClient) -> Connection[AsyncOpenAI]:
    from openai import APIConnectionError, AsyncOpenAI

    client = AsyncOpenAI(api_key=key, base_url=url, max_retries=0, http_client=http, timeout=http.timeout)
    return Connection(client, (APIConnectionError,))
