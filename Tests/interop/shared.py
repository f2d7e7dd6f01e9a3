"""One connection to camarbd for many short-lived D-Bus tools.

busctl and gdbus make a connection for each call, and a session belongs to its connection: it would end with the call
that created it. So the tools connect here instead. This gives each its own handshake and `Hello`, and passes everything
else through unchanged but for the serial numbers: what the tools say and what they get are camarbd's own messages.
"""
import os, select, socket, struct, threading


def message_length(head):
    order = "<" if head[0:1] == b"l" else ">"
    (body,) = struct.unpack_from(order + "I", head, 4)
    (fields,) = struct.unpack_from(order + "I", head, 12)
    return 16 + (fields + 7) // 8 * 8 + body


def reply_serial_at(message):
    """Where in a reply the serial of its call stands."""
    order = "<" if message[0:1] == b"l" else ">"
    (end,) = struct.unpack_from(order + "I", message, 12)
    at, end = 16, 16 + end
    while at < end:
        at = (at + 7) // 8 * 8
        code, signature = message[at], message[at + 2:at + 3]
        at += 4
        if signature == b"u":
            at = (at + 3) // 4 * 4
            if code == 5:
                return order, at
            at += 4
        elif signature in (b"s", b"o"):
            at = (at + 3) // 4 * 4
            (length,) = struct.unpack_from(order + "I", message, at)
            at += 4 + length + 1
        elif signature == b"g":
            at += 1 + message[at] + 1
        else:
            raise AssertionError(f"header field {code} of type {signature}")
    return order, None


def handshake(path):
    """An authenticated connection; the answer to Hello is left for the caller to pass over."""
    upstream = socket.socket(socket.AF_UNIX)
    upstream.connect(str(path))
    upstream.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    line = upstream.makefile("rb", buffering=0).readline()
    assert line.startswith(b"OK "), line
    upstream.sendall(b"BEGIN\r\n")
    return upstream


class Shared:
    """Listens beside camarbd's socket until it is closed."""

    def __init__(self, daemon):
        self.upstream = handshake(daemon.path)
        self.path = daemon.directory / "shared"
        self.address = f"unix:path={self.path}"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(16)
        self.wake, self.woken = os.pipe()
        self.calls, self.serial, self.clients, self.held = {}, 0, {}, b""
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.write(self.woken, b"x")
        self.thread.join(timeout=10)

    def serve(self):
        while True:
            ready, _, _ = select.select([self.wake, self.listener, self.upstream, *self.clients], [], [])
            for source in ready:
                if source == self.wake:
                    for one in (self.upstream, self.listener, *self.clients):
                        one.close()
                    return
                if source is self.listener:
                    self.clients[self.listener.accept()[0]] = {"held": b"", "begun": False, "answered": False}
                elif source is self.upstream:
                    self.from_broker(source.recv(65536))
                elif source in self.clients:
                    try:
                        data = source.recv(65536)
                    except OSError:
                        data = b""
                    if data:
                        self.from_tool(source, data)
                    else:
                        del self.clients[source]
                        source.close()

    def from_broker(self, data):
        self.held += data
        while len(self.held) >= 16 and len(self.held) >= message_length(self.held):
            length = message_length(self.held)
            message, self.held = bytearray(self.held[:length]), self.held[length:]
            if message[1] == 4:
                for client, state in self.clients.items():
                    # sd-bus takes anything before the answer to its Hello for an error.
                    if state["answered"]:
                        self.give(client, message)
                continue
            order, at = reply_serial_at(message)
            client, serial = self.calls.pop(struct.unpack_from(order + "I", message, at)[0], (None, 0))
            if client in self.clients:
                struct.pack_into(order + "I", message, at, serial)
                self.clients[client]["answered"] = True
                self.give(client, message)

    @staticmethod
    def give(client, message):
        try:
            client.sendall(message)
        except OSError:
            pass  # The tool has left; its end of the connection says so to `serve`.

    def from_tool(self, client, data):
        state = self.clients[client]
        state["held"] += data
        while not state["begun"]:
            line, found, rest = state["held"].partition(b"\r\n")
            if not found:
                return
            state["held"] = rest
            word = line.lstrip(b"\0").split(b" ")[0]
            if word == b"AUTH":
                # busctl asks for EXTERNAL without its uid first, and gives an empty one in DATA.
                known = len(line.lstrip(b"\0").split(b" ")) > 2
                client.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n" if known else
                               b"DATA\r\n" if b"EXTERNAL" in line else b"REJECTED EXTERNAL\r\n")
            elif word == b"DATA":
                client.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
            elif word == b"NEGOTIATE_UNIX_FD":
                client.sendall(b"ERROR \"one connection for many\"\r\n")
            elif word == b"BEGIN":
                state["begun"] = True
            else:
                client.sendall(b"ERROR\r\n")
        while len(state["held"]) >= 16 and len(state["held"]) >= message_length(state["held"]):
            length = message_length(state["held"])
            message, state["held"] = bytearray(state["held"][:length]), state["held"][length:]
            order = "<" if message[0:1] == b"l" else ">"
            (serial,) = struct.unpack_from(order + "I", message, 8)
            self.serial += 1
            self.calls[self.serial] = (client, serial)
            struct.pack_into(order + "I", message, 8, self.serial)
            self.upstream.sendall(message)
