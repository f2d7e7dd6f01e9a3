"""A client that says what it likes: the wire's bytes, with whatever descriptors."""
import array, contextlib, os, socket, struct, time

from jeepney import new_method_call

from harness import BROKER


def connect(path, patience=20.0):
    peer = socket.socket(socket.AF_UNIX)
    # Blocking: where the broker's backlog is full the kernel waits so long for a place.
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(patience), 0))
    peer.connect(str(path))
    peer.settimeout(patience)
    peer.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
    said = b""
    while b"AGREE_UNIX_FD\r\n" not in said:
        part = peer.recv(1000)
        assert part, f"the authentication was refused: {said}"
        said += part
    return peer


def several(path, count):
    peers = []
    with contextlib.suppress(OSError, AssertionError):
        while len(peers) < count:
            peers.append(connect(path))
    return peers


def send(peer, data, descriptors=(), flags=0):
    passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    return peer.sendmsg([data], passed, flags)


def header(body, order="<", fields=7):
    """The beginning of a method call whose body is said to be so long."""
    return struct.pack(order + "cBBBIII", b"l" if order == "<" else b"B", 1, 0, 1, body, 7, fields)


def passing(member, signature=None, *body, at=BROKER, serial=1):
    """A whole call, and the descriptors that belong to its first byte."""
    passed = array.array("i")
    data = new_method_call(at, member, signature, body).serialise(serial=serial, fds=passed)
    return data, list(passed)


def call(*said, **how):
    return passing(*said, **how)[0]


def is_over(peer):
    """Whether the broker has ended the connection; waits until it has, or the socket's patience is over."""
    try:
        while peer.recv(65536):
            pass
    except (TimeoutError, BlockingIOError):
        return False
    except OSError:
        pass
    return True


def answers(app, count, patience=60.0, said=False):
    """What became of so many calls that were sent one behind the other: how many were answered, and the refusals by
    name; where it is to be said, by name and sentence."""
    answered, refused = 0, {}
    end = time.monotonic() + patience
    while answered + sum(refused.values()) < count:
        message = app.connection.receive(timeout=max(0.001, end - time.monotonic()))
        kind = message.header.message_type.name
        if kind == "method_return":
            answered += 1
        elif kind == "error":
            name = next(value for code, value in message.header.fields.items() if int(code) == 4)
            if said:
                name += f": {message.body[0]}"
            refused[name] = refused.get(name, 0) + 1
    return answered, refused
