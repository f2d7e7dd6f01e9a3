"""Recorder cores that are not to be trusted: they answer as one must, and then say what nobody should believe."""
import array, contextlib, os, pathlib, signal, socket

from jeepney import DBusAddress, MessageType, Parser, new_error, new_method_return, new_signal

import wire
from harness import Folder, listening
from rows import Child

RECORDER = DBusAddress("/org/camarb/Recorder1", "org.camarb", "org.camarb.Recorder1")
FORMAT = {"pixelFormat": ("s", "420v"), "width": ("u", 640), "height": ("u", 480), "minFrameRate": ("d", 1.0), "maxFrameRate": ("d", 30.0)}
CAPABILITIES = {"name": ("s", "Liar"), "position": ("s", "external"), "sensorWidth": ("u", 640),
                "sensorHeight": ("u", 480), "formats": ("aa{sv}", [FORMAT])}
ANSWERS = {"Describe": ("a{sv}", (CAPABILITIES,)), "Open": ("a{sv}", ({},)), "Configure": ("a{sv}", ({},)), "Cut": ("x", (0,)),
           "PassOn": ("x", (0,))}
REFUSALS = {"OpenStream": ("org.camarb.Error.OutOfResources", "s", ("no stream " + "x" * 100_000,)),
            "Complete": ("org.freedesktop.DBus.Error.UnknownMethod", "s", ("It completes nothing.",))}
# A recorder core that lies is killed and started again; more than this many of them are not made.
LIARS_MAX = 40


class Liar:
    """One recorder core, in the process it runs in: a connection that was accepted."""

    def __init__(self, connection, lie, before=b""):
        self.socket, self.lie, self.serial = connection, lie, 0
        self.camera = None
        self.before = before

    def authenticate(self):
        said = b""
        while b"BEGIN\r\n" not in said:
            part = self.socket.recv(4096)
            if not part:
                raise SystemExit
            said += part
        answer = b"DATA\r\n" if b"EXTERNAL\r\n" in said else b""
        self.socket.sendall(answer + b"OK " + b"0" * 32 + b"\r\nAGREE_UNIX_FD\r\n" + self.before)
        return said.split(b"BEGIN\r\n", 1)[1]

    def send(self, message):
        self.serial += 1
        descriptors = array.array("i")
        data = message.serialise(self.serial, fds=descriptors)
        self.socket.sendall(data[wire.send(self.socket, data, descriptors):])

    def say(self, member, signature=None, *body):
        self.send(new_signal(RECORDER, member, signature, body))

    def serve(self):
        parser = Parser()
        parser.add_data(self.authenticate())
        while True:
            message = parser.get_next_message()
            if message is None:
                data, descriptors, _, _ = socket.recv_fds(self.socket, 65536, 8)
                if not data:
                    raise SystemExit
                parser.add_data(data, [Descriptor(number) for number in descriptors])
                continue
            if message.header.message_type is MessageType.method_call:
                self.answer(message)

    def answer(self, call):
        member = call.header.fields[3]
        if member == "Serve":
            self.camera = call.body[0]
            with Descriptor(os.pidfd_open(os.getpid())) as process:
                return self.send(new_method_return(call, "h", (process,)))
        if member in ANSWERS:
            return self.send(new_method_return(call, *ANSWERS[member]))
        if member in REFUSALS:
            return self.send(new_error(call, *REFUSALS[member]))
        self.send(new_method_return(call))
        if member == "StartRecording" and self.camera == "simulated":
            self.lie(self, *call.body[:2])


class Descriptor:
    """What jeepney's parser and writer take for a descriptor."""

    def __init__(self, number):
        self.number = number

    def fileno(self):
        return self.number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.number)


def serve(connection, lie, before):
    signal.alarm(300)
    with contextlib.suppress(OSError, SystemExit):
        Liar(connection, lie, before).serve()


class Liars:
    """A socket behind which each connection gets a recorder core of its own. They lie about the camera `simulated`, after
    a recording has begun, and serve others honestly.

    `lie(liar, grant, recording)` tells the lie; `before` are bytes that follow the authentication at once."""

    def __init__(self, lie, before=b""):
        self.folder = Folder()
        self.path = pathlib.Path(self.folder.name, "recorder")
        self.listener = listening(self.path)
        self.child = Child(0, self.listen, lie, before)

    def listen(self, lie, before):
        liars = []
        for _ in range(LIARS_MAX):
            connection, _ = self.listener.accept()
            with connection:
                liars.append(Child(0, serve, connection, lie, before))
        signal.pause()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.end()
        self.listener.close()
        self.folder.cleanup()
