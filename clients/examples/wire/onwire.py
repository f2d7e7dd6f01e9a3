#!/usr/bin/python3
"""An app on the wire that outlives its broker: says what happens to its camera, and comes back when camarbd was restarted.

usage: onwire.py SOCKET
"""
import os, socket, struct, sys, time
from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection

BROKER = DBusAddress("/org/camarb/Broker1", "org.camarb", "org.camarb.Broker1")
PAUSE_FIRST, PAUSE_MAX = 0.05, 1.0
AWAY_MAX = 60.0  # longer than a service manager takes to start another broker


class Refused(Exception):
    """The broker has understood, and says no: asking again would not help."""


class OnWire:
    def __init__(self, address):
        self.address, self.has_run, self.reason, self.last_there = address, False, "", time.monotonic()

    def run(self):
        pause = PAUSE_FIRST
        while True:
            begun = time.monotonic()
            try:
                self.live()
            except OSError as end:
                if self.has_run:
                    self.interrupted("broker-restarted")
                # A connection that ends was there until now; one that did not come about was not.
                if self.last_there > begun:
                    pause, self.last_there = PAUSE_FIRST, time.monotonic()
                if time.monotonic() - self.last_there > AWAY_MAX:
                    raise SystemExit(f"There is no broker any more: {end}")
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_MAX)

    def live(self):
        """One connection: says everything from the beginning, and follows the session until the connection ends."""
        with open_dbus_connection(bus=self.address, enable_fds=True, auth_timeout=10) as self.connection, \
                self.connection.filter(MatchRule(type="signal"), bufsize=1024) as signals:
            self.call(BROKER, "DeclareClient", "a{sv}", {"app": ("s", "org.example.OnWire")})
            self.last_there = time.monotonic()
            # What it configured before, and that it ran: its camera is kept for it.
            configuration = {"frameRate": ("d", 30.0), "reestablished": ("b", self.has_run)}
            (path,) = self.call(BROKER, "CreateSession", "sa{sv}", "", configuration)
            session = DBusAddress(path, "org.camarb", "org.camarb.Session1")
            self.call(session, "StartRunning")
            self.has_run = True
            while True:
                signal = self.connection.recv_until_filtered(signals)
                name, values = signal.header.fields[HeaderFields.member], signal.body
                if name == "DidStartRunning":
                    self.reason = ""
                    print("running", flush=True)
                    self.look(session)
                elif name in ("WasInterrupted", "InterruptionChanged"):
                    self.interrupted(values[4])
                elif name == "SessionStopped":
                    raise Refused(f"stopped: {values[2]}")

    def interrupted(self, reason):
        if reason != self.reason:
            self.reason = reason
            print(f"interrupted: {reason}", flush=True)

    def call(self, at, member, signature=None, *values):
        answer = self.connection.send_and_get_reply(new_method_call(at, member, signature, values))
        if answer.header.message_type is MessageType.error:
            raise Refused(answer.body[0])
        return answer.body

    def look(self, session):
        """Takes one frame: a stream is of one grant, and opened anew for each."""
        (descriptor,) = self.call(session, "OpenStream")
        sizes = {}
        with socket.socket(fileno=descriptor.to_raw_fd()) as stream:
            while True:
                record, passed, _, _ = socket.recv_fds(stream, 40, 1)
                for buffer in passed:
                    os.close(buffer)  # to see the picture, map it first: mmap(buffer, size, prot=PROT_READ)
                if not record:
                    return
                kind, index = struct.unpack_from("<II", record)
                if kind == 1:
                    sizes[index] = struct.unpack_from("<II", record, 8)
                elif kind == 2:
                    print("a frame of {}x{}".format(*sizes[index]), flush=True)
                    stream.send(struct.pack("<II32x", 3, index))
                    return


try:
    OnWire(f"unix:path={sys.argv[1]}").run()
except Refused as no:
    raise SystemExit(str(no))
