#!/usr/bin/python3
"""An application in a process of its own, for contention.py.

usage: contender.py ADDRESS APP DESCRIPTOR MANY

It runs a session for as long as it lives and reads every frame it is given. On DESCRIPTOR, a SOCK_SEQPACKET socket,
it says as JSON what happened; the buffers of each grant go along as descriptors, so that the test can look at the very
memory this process has mapped, also when it is stopped or dead. After MANY frames of a grant it says so.
"""
import json, select, socket, sys

from harness import App

address, name, descriptor, many = sys.argv[1:]
report = socket.socket(fileno=int(descriptor))


def say(descriptors=(), **what):
    socket.send_fds(report, [json.dumps(what).encode()], list(descriptors))


app = App(address, name)
session = app.session()
session.start()
say(what="ready")
stream = grant = last = None
frames = 0


def buffers():
    return [buffer.descriptor for buffer in stream.buffers.values()]


def ended():
    global stream
    say(buffers(), what="cut", grant=grant, last=last)
    stream.close()
    stream = None


while True:
    select.select([app, *([stream] if stream else [])], [], [])
    if stream and select.select([stream], [], [], 0)[0]:
        frame = stream.read()
        if frame is None:
            ended()
        elif not frame.mark:
            # A cut blanked the buffer between the record and this look at it: only blank ones and the end may follow.
            while frame is not None:
                assert not frame.mark, "a frame was captured after the cut"
                frame = stream.read()
            ended()
        else:
            assert frame.mark[0] == frame.timestamp, "the record and the picture disagree about the capture time"
            frames += 1
            last = frame.mark[0]
            if frames == 1:
                say(buffers(), what="first", grant=grant, time=last)
            if frames == int(many):
                say(what="many", grant=grant)
            stream.release(frame)
    app.poll()
    while app.seen < len(app.signals):
        _, member, body = app.signals[app.seen]
        app.seen += 1
        if member == "DidStartRunning":
            if stream:
                while stream.read() is not None:
                    pass
                ended()
            grant, last, frames = body[2], None, 0
            try:
                stream = session.stream()
            except Exception as refused:  # Cut again before the stream was asked for: the next grant will have one.
                say(what="late", grant=grant, why=str(refused))
        elif member in ("WasInterrupted", "DidStopRunning"):
            say(what=member, grant=grant)
