#!/usr/bin/python3
"""An app in a process of its own, for the handovers: says as JSON lines what it saw of each grant.

usage: viewer.py ADDRESS APP

A real camera's frames have no marks; what counts is when each was captured, and that nothing of a grant is left in the
memory that this process has mapped when the grant is over.
"""
import json, select, sys

from cameras import SMALL, VM_PATIENCE, stream_of, wait_for_camera
from harness import App

address, name = sys.argv[1:]


def say(**what):
    print(json.dumps(what), flush=True)


app = App(address, name)
wait_for_camera(app, "back")
session = app.session("back", **SMALL)
session.start()
say(what="ready")
stream = grant = first = last = None
frames = 0
# Of the grant before: they are blank once somebody else has the camera, not yet when the stream ends.
buffers = []


def over():
    global stream, buffers
    buffers = list(stream.buffers.values())
    say(what="cut", grant=grant, first=first, last=last, frames=frames)
    stream.close()
    stream = None


while True:
    select.select([app, *([stream] if stream else [])], [], [])
    if stream and select.select([stream], [], [], 0)[0]:
        frame = stream.read(VM_PATIENCE)
        if frame is None:
            over()
        else:
            frames, last = frames + 1, frame.timestamp
            if first is None:
                first = last
                say(what="first", grant=grant, time=first, blank=all(buffer.is_blank for buffer in buffers))
            stream.release(frame)
    app.poll()
    while app.seen < len(app.signals):
        _, member, body = app.signals[app.seen]
        app.seen += 1
        if member == "DidStartRunning":
            if stream:
                while stream.read(VM_PATIENCE) is not None:
                    pass
                over()
            first, last, frames = None, None, 0
            stream = stream_of(session)
            # Whatever came before the answer was so before the stream was opened, which is of the last of these starts.
            grant = [body[2], *(later[2] for _, member, later in app.signals[app.seen:] if member == "DidStartRunning")][-1]
            app.seen = len(app.signals)
        # Whatever came along with an answer wakes nobody.
        app.poll()
