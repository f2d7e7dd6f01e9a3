#!/usr/bin/python3
"""A program that takes a camera's pictures by GStreamer, and says what that cost it.

usage: consumer.py SIZE PATIENCE PIPELINE      SIZE: WIDTHxHEIGHT, or `any`; PATIENCE: seconds that a picture may take;
                                               PIPELINE: without its sink, such as "v4l2src ! video/x-raw,width=1280,height=720"

It takes pictures and throws them away. After the first ones it prints "warm", and their size. Whoever started it then says on standard
input from when till when, in seconds of CLOCK_MONOTONIC, its pictures count, so that several of them are measured at once. After that it
prints one object of JSON: `frames`, `seconds`, `cpu` (its own processor time over these, in seconds), and `delays`, from the capture of a
picture to its delivery here, in milliseconds; and it goes on until standard input ends. Where no picture comes it ends with status 1, and
with 3 at a picture of another size than SIZE; it says why.
"""
import json, resource, sys, threading, time

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: F401

# Pictures before the measurement: the first ones open devices and agree on formats.
WARM_UP = 15


def used():
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime + now.ru_stime


def errors():
    while message := pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR):
        error, details = message.parse_error()
        # Below the place in the source there may be more.
        _, _, more = details.partition("\n")
        yield f"{error.message} ({more})" if more else error.message


def fail(status, why):
    pipeline.set_state(Gst.State.NULL)
    print(why, file=sys.stderr)
    sys.exit(status)


def picture():
    """(its size, when it was captured)"""
    sample = sink.try_pull_sample(patience * Gst.SECOND)
    if sample is None:
        fail(1, f"no picture came: {' '.join(errors()) or f'nothing was said for {patience} s'}")
    caps = sample.get_caps().get_structure(0)
    size = f"{caps.get_value('width')}x{caps.get_value('height')}"
    if wanted not in ("any", size):
        fail(3, f"a picture of {size} came, and not one of {wanted}")
    return size, sample.get_buffer().pts


def listen():
    # Both at once, as the other thread sees it.
    window.extend([float(word) for word in sys.stdin.readline().split()])
    sys.stdin.read()
    is_over.set()


wanted, patience, description = sys.argv[1], int(sys.argv[2]), sys.argv[3]
Gst.init(None)
pipeline = Gst.parse_launch(f"{description} ! appsink name=sink sync=false max-buffers=2")
sink = pipeline.get_by_name("sink")
pipeline.set_state(Gst.State.PLAYING)
for _ in range(WARM_UP):
    first, _ = picture()
print("warm", first, flush=True)
window, is_over = [], threading.Event()
threading.Thread(target=listen, daemon=True).start()
while not is_over.is_set() and (not window or time.monotonic() < window[0]):
    picture()
frames, delays, begun, before = 0, [], time.monotonic(), used()
while window and time.monotonic() < window[1]:
    _, captured = picture()
    frames += 1
    if captured != Gst.CLOCK_TIME_NONE:
        delays.append((pipeline.get_clock().get_time() - pipeline.get_base_time() - captured) / Gst.MSECOND)
print(json.dumps({"frames": frames, "seconds": time.monotonic() - begun, "cpu": used() - before, "delays": delays}), flush=True)
while not is_over.is_set():
    picture()
pipeline.set_state(Gst.State.NULL)
