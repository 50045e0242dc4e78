"""Server: one page and its live connection, for one person at one machine.

It listens on 127.0.0.1 unless another host is asked for. The address contains a random token,
without which no request is answered; a page of another origin is refused. Every message is a JSON
header of plain data, followed by bytes where there are some.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import struct
import sys
import threading
import webbrowser
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from ..errors import CatenaError

MAX_MESSAGE_BYTES = 4 * 2**20  # bytes of a message from a page, at most
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
    " ws:; img-src data:; base-uri 'none'; form-action 'none'"
)


class Client:
    """One browser. `editor`: whether it may change anything; other browsers only look."""

    def __init__(self, connection: Any):
        self.connection, self.editor, self._lock = connection, False, threading.Lock()

    def send(self, kind: str, blob: bytes = b"", **data: Any) -> None:
        """Send a message; nothing happens where the browser has closed the connection."""
        from websockets.exceptions import ConnectionClosed

        try:
            with self._lock:
                self.connection.send(packed(kind, blob, data))
        except (ConnectionClosed, OSError):
            pass


def packed(kind: str, blob: bytes, data: Mapping[str, Any]) -> bytes:
    """Return a message as bytes: the length of its header, the header, and what follows it."""
    text = json.dumps({"kind": kind, **data}, allow_nan=False, default=_plain).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return struct.pack("<I", len(text)) + text + blob


class Session(Protocol):
    """The interface of an object that answers the requests of a page."""

    def page(self) -> str:
        """Return the HTML of the page."""

    def opened(self, client: Client) -> None:
        """Handle a browser that has connected."""

    def received(self, client: Client, message: dict[str, Any]) -> None:
        """Handle a message of a browser."""

    def closed(self, client: Client) -> None:
        """Handle a browser that has disconnected."""


class Server:
    """A session on a port. `address` is the address to open; `close` ends it."""

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = 0, token: str = ""):
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise CatenaError(
                "the browser needs the package websockets: pip install 'catena[studio]'"
            ) from None
        self.session, self.clients = session, list[Client]()
        self.token = token or secrets.token_urlsafe(18)
        self.host = host
        self._lock = threading.Lock()
        try:
            self._server = serve(
                self._serve_connection,
                host,
                port,
                process_request=self._request,
                max_size=MAX_MESSAGE_BYTES,
                compression=None,
            )
        except OSError as why:
            raise CatenaError(
                f"{host}:{port} cannot be listened on"
                f" ({os.strerror(why.errno) if why.errno else why}); take another --port, or 0 for"
                " any that is free"
            ) from None
        self.port = self._server.socket.getsockname()[1]

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/{self.token}/"

    def start(self) -> Server:
        """Serve in a thread, and return the server."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()

    # --- HTTP
    def _request(self, connection: Any, request: Any) -> Any:
        """Answer an HTTP request with the page or a refusal; None lets a live connection open."""
        path = unquote(urlsplit(request.path).path)
        if not secrets.compare_digest(
            path.split("/")[1] if path.startswith("/") else "", self.token
        ):
            return self._answer(
                HTTPStatus.FORBIDDEN,
                "this address lacks the token that catena printed when it started; open that"
                " address",
            )
        if "upgrade" in request.headers.get("Connection", "").lower():
            if request.headers.get("Origin") not in self._origins(request):
                return self._answer(
                    HTTPStatus.FORBIDDEN, "a page of another origin may not talk to this one"
                )
            return None
        if path != f"/{self.token}/":
            return self._answer(HTTPStatus.NOT_FOUND, "there is nothing here")
        return self._answer(HTTPStatus.OK, self.session.page(), "text/html; charset=utf-8")

    def _origins(self, request: Any) -> set[str]:
        """Return the origins from which catena's page may connect: those of the address that the
        server listens on; with a host chosen by the user, also the name by which it was reached.
        """
        names = (
            LOCAL_HOSTS
            if self.host in LOCAL_HOSTS
            else (self.host, request.headers.get("Host", "").rpartition(":")[0])
        )
        return {
            f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{self.port}"  # noqa: E501
            for name in names
        }

    def _answer(
        self, status: HTTPStatus, body: str, kind: str = "text/plain; charset=utf-8"
    ) -> Any:
        """Return an HTTP response with our security headers."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        data = body.encode()
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            "Connection": "close",
            "Content-Security-Policy": POLICY,
            "X-Frame-Options": "DENY",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        return Response(status.value, status.phrase, Headers(headers), data)

    # --- the live connection
    def _serve_connection(self, connection: Any) -> None:
        """Serve one live connection until it closes; the first browser is the editor."""
        from websockets.exceptions import ConnectionClosed

        client = Client(connection)
        with self._lock:
            client.editor = not any(c.editor for c in self.clients)
            self.clients.append(client)
        try:
            self.session.opened(client)
            for text in connection:
                self._handle_message(client, text)
        except ConnectionClosed:
            pass
        finally:
            self._client_left(client)

    def _handle_message(self, client: Client, text: Any) -> None:
        """Handle one message; an error is sent back to the page."""
        try:
            message = json.loads(text)
            if not isinstance(message, dict):
                raise ValueError("a message is an object")
            self.session.received(client, message)
        except (CatenaError, ValueError, KeyError, TypeError, ArithmeticError) as why:
            client.send("fault", text=str(why) or type(why).__name__)

    def _client_left(self, client: Client) -> None:
        """Remove a client; if it was the editor, the next client becomes the editor."""
        with self._lock:
            self.clients.remove(client)
            heir = next(iter(self.clients), None) if client.editor else None
            if heir is not None:
                heir.editor = True
        self.session.closed(client)
        if heir is not None:
            heir.send("editor", editor=True)


def announce(server: Server, browse: bool) -> None:
    """Print the address, and open a browser where there is one."""
    if server.host not in LOCAL_HOSTS:
        print(
            f"catena: listening on {server.host}: everybody in this network who has the address can"
            " use it, and what is sent is not encrypted",
            file=sys.stderr,
        )
    print(f"{server.address}  (Ctrl-C ends it)", flush=True)
    if browse and not _opened(server.address):
        print(
            "catena: no browser was found on this machine; open the address above", file=sys.stderr
        )


class AddressMemory(Protocol):
    """The interface of an object that stores the address of a page from one session to the next."""

    def last_address(self) -> tuple[int, str] | None:
        """Return the port and the token of the last session."""

    def store_address(self, port: int, token: str) -> None:
        """Keep the port and the token of this session."""


def server_at_last_address(
    session: Session, host: str, port: int, seats: AddressMemory | None
) -> Server:
    """Return a server at the address of the last session, where that is free and no other port is
    asked for; a page that is still open then reconnects.
    """
    last = seats.last_address() if seats is not None else None
    server = None
    if last is not None and port in (0, last[0]):
        with contextlib.suppress(CatenaError):
            server = Server(session, host, *last)
    if server is None:
        server = Server(session, host, port, last[1] if last is not None else "")
    if seats is not None:
        seats.store_address(server.port, server.token)
    return server


def run(
    session: Session,
    host: str = "127.0.0.1",
    port: int = 0,
    browse: bool = True,
    seats: AddressMemory | None = None,
) -> None:
    """Serve a session until Ctrl-C. seats: where its address is remembered."""
    server = server_at_last_address(session, host, port, seats).start()
    announce(server, browse)
    try:
        threading.Event().wait()
    finally:
        server.close()


def _opened(address: str) -> bool:
    """Open the address in a browser; return whether there is one."""
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def _plain(x: Any) -> Any:
    """Return arrays and mappings as JSON types."""
    if hasattr(x, "tolist"):
        return x.tolist()
    if isinstance(x, Mapping):
        return dict(x)
    raise TypeError(f"a message holds a {type(x).__name__}")
