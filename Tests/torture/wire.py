"""A client that says what it likes: the wire's bytes, with whatever descriptors."""
import array, os, socket, struct

from jeepney import new_method_call

from harness import BROKER


def connect(path, patience=20.0):
    """A socket on which the authentication is over."""
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(patience)
    peer.connect(str(path))
    peer.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
    said = b""
    while b"AGREE_UNIX_FD\r\n" not in said:
        part = peer.recv(1000)
        assert part, f"the authentication was refused: {said}"
        said += part
    return peer


def send(peer, data, descriptors=(), flags=0):
    passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    return peer.sendmsg([data], passed, flags)


def header(body, order="<", fields=7):
    """The beginning of a method call whose body is said to be so long."""
    return struct.pack(order + "cBBBIII", b"l" if order == "<" else b"B", 1, 0, 1, body, 7, fields)


def call(member="Watch", signature="b", *body, at=BROKER, serial=1):
    """A whole call, and the descriptors that belong to its first byte."""
    passed = array.array("i")
    data = new_method_call(at, member, signature, body or (False,)).serialise(serial=serial, fds=passed)
    return data, list(passed)


def is_over(peer):
    """Whether the broker has ended the connection; waits until it has, or the socket's patience is over."""
    try:
        while True:
            if not peer.recv(65536):
                return True
    except (ConnectionResetError, BrokenPipeError):
        return True
    except (TimeoutError, BlockingIOError):
        return False
