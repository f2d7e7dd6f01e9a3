"""What the apps of this folder share: they say what they hear as JSON, a line each, and are told what to do in words."""
import json, os, sys, threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import Stream


def say(**what):
    # From several threads, where a library has its own.
    sys.stdout.write(json.dumps(what, default=str) + "\n")
    sys.stdout.flush()


def show(descriptor):
    """Reads the first frame of a preview stream, and says how wide it is."""
    stream = Stream(descriptor)
    frame = stream.read()
    assert frame.mark, "the first frame is no picture of the camera"
    say(stream=stream.buffers[frame.index].width)
    stream.close()


def listen(done):
    """Calls `done` with each word that is told, on a thread of its own; with "" at the end."""
    def read():
        for line in sys.stdin:
            done(line.strip())
        done("")
    threading.Thread(target=read, daemon=True).start()
