"""One connection to camarbd for many short-lived D-Bus tools.

busctl and gdbus make a connection for each call, and a session belongs to its connection: it would end with the call
that created it. So the tools connect here instead. This gives each its own handshake, and passes everything else through,
their `Hello` too, but for the serial numbers.
"""
from jeepney import HeaderFields, MessageType
from jeepney.io.blocking import open_dbus_connection

from harness import PATIENCE
from message_bus import Peers


class Shared(Peers):
    passes_files = False

    def __init__(self, daemon):
        self.upstream = open_dbus_connection(bus=daemon.address, auth_timeout=PATIENCE)
        # Whose call each is, and which of its calls; who has had an answer.
        self.calls, self.answered = {}, set()
        self.address = f"unix:path={daemon.directory / 'shared'}"
        super().__init__(daemon.directory / "shared")

    def __exit__(self, *_):
        super().__exit__()
        self.upstream.close()

    def sources(self):
        return [self.upstream.sock]

    def came(self):
        for message in self.upstream.parser.feed(self.upstream.sock.recv(65536)):
            if message.header.message_type is MessageType.signal:
                # sd-bus takes anything before the answer to its Hello for an error.
                for peer in list(self.answered):
                    self.send(peer, message)
            else:
                fields = message.header.fields
                peer, fields[HeaderFields.reply_serial] = self.calls.pop(fields[HeaderFields.reply_serial])
                self.answered.add(peer)
                self.send(peer, message)

    def heard(self, peer, message):
        serial = next(self.serials)
        self.calls[serial] = (peer, message.header.serial)
        self.upstream.sock.sendall(message.serialise(serial=serial))
