"""Attackers that several rows share: raw connections that write as fast as they are read, or not at all."""
import os, select, socket, struct, time

from jeepney import new_method_call

from harness import BROKER, App, Refused


def raw(path, user=None):
    """A connection that has authenticated and is blocking, without a library above it."""
    peer = socket.socket(socket.AF_UNIX)
    # Blocking: where the broker's backlog is full the kernel waits for a place, for 20 s.
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 20, 0))
    peer.connect(str(path))
    peer.settimeout(20)
    name = str(os.getuid() if user is None else user).encode().hex().encode()
    peer.sendall(b"\0AUTH EXTERNAL " + name + b"\r\n")
    assert peer.recv(4096).startswith(b"OK"), "the broker did not take the user"
    peer.sendall(b"BEGIN\r\n")
    return peer


def call(member, signature=None, *body, at=BROKER, serial=1):
    """A call as bytes."""
    return new_method_call(at, member, signature, body).serialise(serial=serial)


def flood(path, connections, seconds, member, *arguments):
    """Calls over many connections as fast as the broker reads, answers thrown away: how many bytes of answers came, and
    how many connections there were and are left at the end."""
    batch = call(member, *arguments) * 16
    peers = {}
    opened = 0
    for _ in range(connections):
        try:
            peer = raw(path)
        except (OSError, AssertionError):
            break  # Its share is used up.
        peer.setblocking(False)
        peers[peer.fileno()] = (peer, bytearray())
        opened += 1
    poll = select.poll()
    for number in peers:
        poll.register(number, select.POLLIN | select.POLLOUT)
    until = time.monotonic() + seconds
    answered = 0
    while peers and time.monotonic() < until:
        for number, events in poll.poll(100):
            peer, unsent = peers[number]
            try:
                if events & select.POLLIN:
                    part = peer.recv(1 << 16)
                    if not part:
                        raise ConnectionResetError
                    answered += len(part)
                if events & select.POLLOUT:
                    if not unsent:
                        unsent += batch
                    del unsent[:peer.send(unsent)]
            except BlockingIOError:
                continue
            except OSError:
                poll.unregister(number)
                peers.pop(number)[0].close()
    return [answered, opened, len(peers)]


def answers(app, count, patience=60.0, said=False):
    """What became of so many calls that were sent one behind the other: how many were answered, and the refusals by
    name; where it is to be said, by name and sentence."""
    answered, refused = 0, {}
    until = time.monotonic() + patience
    while answered + sum(refused.values()) < count:
        message = app.connection.receive(timeout=max(0.001, until - time.monotonic()))
        kind = message.header.message_type.name
        if kind == "method_return":
            answered += 1
        elif kind == "error":
            name = next(value for code, value in message.header.fields.items() if int(code) == 4)
            if said:
                name += f": {message.body[0]}"
            refused[name] = refused.get(name, 0) + 1
    return answered, refused


def sessions(address, connections, each):
    """Opens sessions until it is refused. Its connections, which keep them, how many it got, and the last refusal."""
    apps, got, why = [], 0, ""
    for _ in range(connections):
        try:
            app = App(address)
        except OSError as error:
            why = str(error)
            break
        apps.append(app)
        try:
            for _ in range(each):
                app.session()
                got += 1
        except Refused as refused:
            why = refused.message
    return apps, got, why
