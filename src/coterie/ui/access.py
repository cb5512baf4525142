"""Who may speak to the page: a link that works once, exchanged for a cookie."""

from __future__ import annotations

import hmac
import secrets
import threading

_DAY = 86_400


class Access:
    """A start token, which is given up for a cookie the first time that it is shown, and the cookie.

    Both are random, live in memory and are compared in constant time. A new start token can be drawn, for whoever
    has lost the cookie and can read the terminal; it makes the old one worthless, used or not.
    """

    def __init__(self, port: int) -> None:
        self.name = f"coterie-{port}"  # cookies don't know ports: two pages on one machine must not share one
        self._secret = secrets.token_urlsafe(32)
        self._token: str | None = None
        self._lock = threading.Lock()

    def new_token(self) -> str:
        """A token that works once; the one before no longer does."""
        with self._lock:
            self._token = secrets.token_urlsafe(32)
            return self._token

    def exchange(self, token: str) -> str | None:
        """The cookie's header, the first time that the token is shown; None for any other text, and ever after."""
        with self._lock:
            if self._token is None or not _same(token, self._token):
                return None
            self._token = None
        return f"{self.name}={self._secret}; Path=/; Max-Age={_DAY}; HttpOnly; SameSite=Strict"

    def knows(self, cookies: str) -> bool:
        """Whether the cookie is among those of a request. Other servers on this machine may have set some."""
        good = False
        for cookie in cookies.split(";"):
            name, _, value = cookie.strip().partition("=")
            good |= name == self.name and _same(value, self._secret)
        return good


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
