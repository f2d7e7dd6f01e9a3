"""usage: reader.py APP FORMAT RATE          reads pictures of the camera in front, and says each, and each event, as a line of JSON

It is told a line: keys of a batch, as JSON, or `release`, `keep` for whether it gives pictures back, `record FILE`, `finish`. A picture is the
moment of its capture, its width, its height, and the moment that is burnt into it, or null where that is not legible.
"""
import json, os, pathlib, select, sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import camarb
from harness import read_mark

kept, keeps = [], False


def say(**words):
    print(json.dumps(words), flush=True)


def told(session, line):
    global keeps
    word, _, file = line.partition(" ")
    if word in ("keep", "release"):
        keeps = word == "keep"
        kept.clear()
    elif word == "record":
        session.start_recording(file)
    elif word == "finish":
        session.stop_recording()
    else:
        session.configure(json.loads(line))


def show(frame):
    mark = read_mark(frame.planes[0], frame.width, frame.height, frame.strides[0])
    say(captured=frame.captured, width=frame.width, height=frame.height, mark=mark and mark[0])


def take(session, client):
    while event := client.next_event():
        words = {name: getattr(event, name) for name in (
            "error", "error_name", "reason", "controller", "access", "sharers", "in_force", "frames", "frames_left_out")}
        say(event=event.type.name, **{name: value for name, value in words.items() if value not in ("", (), None)})
    while not (keeps and len(kept) == 2) and (frame := session.next_frame()):
        if keeps:
            kept.append(frame)
        else:
            with frame:
                show(frame)


with camarb.Client(app=sys.argv[1]) as client:
    with client.session("front", activeFormat=sys.argv[2], frameRate=float(sys.argv[3])) as session:
        session.pictures = True
        session.start()
        lines = b""
        while True:
            client.dispatch()
            take(session, client)
            ready, _, _ = select.select([client.fileno(), 0], [], [], 20)
            if 0 not in ready:
                continue
            some = os.read(0, 4096)
            if not some:
                break
            *whole, lines = (lines + some).split(b"\n")
            for line in whole:
                told(session, line.decode())
        kept.clear()
