"""A scripted broker: authentication, CreateSession, StartRunning, and streams that lie."""
import array, contextlib, fcntl, itertools, os, pathlib, shutil, socket, struct, tempfile, threading

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.fds import FileDescriptor
from jeepney.low_level import Parser

SESSION = "org.camarb.Session1"


class FalseBroker:
    """Serves one client after the other on a socket of its own, with a thread of its own."""

    def __init__(self, guid="0" * 31 + "1"):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-false."))
        self.address = str(self.directory / "socket")
        self.guid, self.streams, self.connections, self.calls = guid, [], 0, []
        # By a method's name: what is done beside the usual, with this broker and the call. True: and nothing of the usual.
        self.also = {}
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.address)
        self.listener.listen(8)
        self.connection, self.is_over, self.serials = None, False, itertools.count(1)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_over = True
        for end in (self.listener, self.connection):
            with contextlib.suppress(OSError, AttributeError):
                end.shutdown(socket.SHUT_RDWR)
        self.thread.join(timeout=10)
        self.listener.close()
        for stream in self.streams:
            stream.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def serve(self):
        while not self.is_over:
            try:
                self.connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.sequence, self.sessions = 0, 0
            with contextlib.suppress(ConnectionError, BrokenPipeError), self.connection:
                self.serve_one()

    def serve_one(self):
        said = b""
        while b"BEGIN\r\n" not in said:
            data = self.connection.recv(4096)
            if not data:
                return
            said += data
            if b"AUTH EXTERNAL" in data:
                self.connection.sendall(b"DATA\r\n" if b"AUTH EXTERNAL\r\n" in data else b"")
                self.connection.sendall(f"OK {self.guid}\r\n".encode())
            if b"NEGOTIATE_UNIX_FD" in data:
                self.connection.sendall(b"AGREE_UNIX_FD\r\n")
        parser = Parser()
        parser.add_data(said.split(b"BEGIN\r\n", 1)[1])
        while True:
            while (message := parser.get_next_message()) is not None:
                self.answer(message)
                for part in message.body:
                    if isinstance(part, FileDescriptor):
                        part.close()
            data, descriptors, _, _ = socket.recv_fds(self.connection, 65536, 8)
            if not data:
                return
            parser.add_data(data, [FileDescriptor(descriptor) for descriptor in descriptors])

    def send(self, message):
        # Libraries drop signals that nobody sent.
        message.header.fields[HeaderFields.sender] = ":1.0"
        passed = array.array("i")
        data = message.serialise(serial=next(self.serials), fds=passed)
        if passed:
            socket.send_fds(self.connection, [data], list(passed))
        else:
            self.connection.sendall(data)

    def tell(self, member, signature="", *body, session=1, sequence=None):
        """A signal of the session's, with the next number."""
        self.sequence = sequence or self.sequence + 1
        emitter = DBusAddress(f"/org/camarb/session/{session}", interface=SESSION)
        self.send(new_signal(emitter, member, "tt" + signature, (self.sequence, 7, *body)))

    def send_cameras_changed(self):
        self.send(new_signal(DBusAddress("/org/camarb/Broker1", interface="org.camarb.Broker1"), "CamerasChanged"))

    def answer(self, call):
        if call.header.message_type is not MessageType.method_call:
            return
        member = call.header.fields[HeaderFields.member]
        self.calls.append(member)
        if member in self.also and self.also[member](self, call):
            return
        if member == "CreateSession":
            self.sessions += 1
            self.send(new_method_return(call, "o", (f"/org/camarb/session/{self.sessions}",)))
        elif member == "StartRunning":
            self.send(new_method_return(call))
            self.tell("DidStartRunning", "t", 1)
        elif member == "GetReclaimSecret":
            self.send(new_error(call, "org.freedesktop.DBus.Error.Failed", "s", ("Nothing outlives this broker.",)))
        elif member == "OpenStream":
            mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.streams.append(mine)
            self.send(new_method_return(call, "h", (theirs,)))
            theirs.close()
        elif not call.header.flags & 1:
            self.send(new_method_return(call))


def cameras(formats, controls=()):
    """An answer to GetManagedObjects with one camera."""
    facts = {"Id": ("s", "front"), "Name": ("s", "Front"), "Present": ("b", True), "Formats": ("aa{sv}", formats),
             "Controls": ("aa{sv}", list(controls))}

    def answer(broker, call):
        broker.send(new_method_return(call, "a{oa{sa{sv}}}", ({"/org/camarb/camera/front": {"org.camarb.Camera1": facts}},)))
        return True
    return answer


def format_(pixels="420v", width=1280, height=720, least=1.0, most=30.0, **more):
    return {"pixelFormat": ("s", pixels), "width": ("u", width), "height": ("u", height), "minFrameRate": ("d", least),
            "maxFrameRate": ("d", most), **more}


SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10  # F_SEAL_FUTURE_WRITE


def memory(bytes_, seals=SEALS, contents=b"\x55"):
    descriptor = os.memfd_create("false", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, bytes_)
    os.pwrite(descriptor, contents * min(bytes_, 1 << 20), 0)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def buffer(index=0, width=64, height=48, stride=64, pixels=b"420v", size=None):
    return struct.pack("<IIIII4sQ8x", 1, index, width, height, stride, pixels,
                       stride * height * 3 // 2 if size is None else size)


def frame(index=0, sequence=1, captured=1, flags=0):
    return struct.pack("<IIQqQI4x", 2, index, sequence, captured, 0, flags)


def say(stream, record, descriptor=None):
    if descriptor is None:
        stream.send(record)
    else:
        socket.send_fds(stream, [record], [descriptor])
        os.close(descriptor)
