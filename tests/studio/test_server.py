"""The server: a token, one's own origin, this machine alone; two browsers may look, one edits."""

from __future__ import annotations

import json
import struct
import urllib.error
import urllib.request

import pytest

pytest.importorskip("websockets")

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from catena.errors import CatenaError
from catena.studio.server import Server


class Echo:
    """A session that says back what it hears."""

    def __init__(self):
        self.left = 0

    def page(self):
        return "<!DOCTYPE html><title>echo</title>"

    def opened(self, client):
        client.send("hello", editor=client.editor)

    def received(self, client, message):
        if message.get("kind") == "bad":
            raise CatenaError("no such thing; take another")
        client.send("echo", b"12345678", said=message, number=float("1.5"))

    def closed(self, client):
        self.left += 1


def heard(link):
    data = link.recv(timeout=20)
    (n,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + n]), data[4 + n :]


def opened(server, origin=None, token=None):
    own = f"http://127.0.0.1:{server.port}"
    return connect(
        f"ws://127.0.0.1:{server.port}/{token or server.token}/live", origin=origin or own
    )


def get(address, **headers):
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=headers), timeout=20
        ) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as why:
        return why.code, why.read().decode(), dict(why.headers)


def test_nothing_without_the_token(served):
    server = served(Echo())
    assert server.address.startswith("http://127.0.0.1:") and len(server.token) > 20
    status, text, headers = get(server.address)
    assert (
        status == 200
        and "echo" in text
        and "default-src 'none'" in headers["Content-Security-Policy"]
        and headers["X-Frame-Options"] == "DENY"
    )
    for path in ("", "wrong/", f"{server.token[:-1]}/", "../etc/passwd"):
        status, text, _ = get(f"http://127.0.0.1:{server.port}/{path}")
        assert status == 403 and "lacks the token" in text
    assert get(f"{server.address}other")[0] == 404
    with pytest.raises(InvalidStatus, match="403"):
        opened(server, token="wrong")


def test_other_origins_are_refused(served):
    server = served(Echo())
    for origin in (
        "http://evil.example",
        f"http://evil.example:{server.port}",
        "null",
        "http://127.0.0.1:1",
    ):
        with pytest.raises(InvalidStatus, match="403"):
            opened(server, origin=origin)
    with opened(server) as link:
        assert heard(link)[0] == {"kind": "hello", "editor": True}


def test_messages_and_faults(served):
    server = served(Echo())
    with opened(server) as link:
        heard(link)
        link.send(json.dumps({"kind": "x", "value": [1, 2]}))
        message, blob = heard(link)
        assert message["said"]["value"] == [1, 2] and blob == b"12345678"
        for text in (json.dumps({"kind": "bad"}), "no json", "[1]"):
            link.send(text)
            assert heard(link)[0]["kind"] == "fault"
        link.send(json.dumps({"kind": "still there"}))
        assert heard(link)[0]["kind"] == "echo"


def test_two_look_one_edits(served):
    session = Echo()
    server = served(session)
    with opened(server) as editor:
        assert heard(editor)[0]["editor"] is True
        with opened(server) as looker:
            assert heard(looker)[0]["editor"] is False
            editor.close()
            # the one that is left takes over
            assert heard(looker)[0] == {"kind": "editor", "editor": True}


def test_a_machine_without_a_browser_and_a_host_of_one_s_own(served, capsys, monkeypatch):
    import webbrowser

    from catena.studio.server import announce

    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    server = served(Echo())
    announce(server, browse=True)
    said = capsys.readouterr()
    assert (
        server.address in said.out
        and said.err == "catena: no browser was found on this machine; open the address above\n"
    )
    open_to_all = served(Echo(), host="0.0.0.0")
    announce(open_to_all, browse=False)
    assert (
        "listening on 0.0.0.0: everybody in this network who has the address can use it"
        in capsys.readouterr().err
    )
    with connect(
        f"ws://127.0.0.1:{open_to_all.port}/{open_to_all.token}/live",
        origin=f"http://127.0.0.1:{open_to_all.port}",
    ) as link:
        assert heard(link)[0]["kind"] == "hello"  # by the name it was reached by


def test_a_port_in_use(served):
    taken = served(Echo()).port
    with pytest.raises(
        CatenaError,
        match=(
            rf"127.0.0.1:{taken} cannot be listened on \(.*\); take another --port, or 0 for any"
            r" that is free"
        ),
    ):
        Server(Echo(), port=taken)
