#!/usr/bin/python3
"""A program that takes a camera's pictures by GStreamer, and says what that cost it.

usage: consumer.py SECONDS PIPELINE      a pipeline without its sink, such as "v4l2src ! video/x-raw,width=1280,height=720"

It takes pictures for some seconds, throws them away, and prints one object of JSON: `frames`, `seconds`, `cpu` (its own processor time
over these, in seconds), and `delays`, from the capture of a picture to its delivery here, in milliseconds. A line "begins" and a line
"ends" on standard output tell whoever started it when the seconds are.
"""
import json, resource, sys, time

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: F401

# Pictures before the measurement: the first ones open devices and agree on formats.
WARM_UP = 15
PATIENCE = 120 * Gst.SECOND


def used():
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime + now.ru_stime


def picture():
    sample = sink.try_pull_sample(PATIENCE)
    if sample is None:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        sys.exit(f"no picture came: {message.parse_error() if message else 'nothing was said'}")
    return sample.get_buffer().pts


seconds, description = float(sys.argv[1]), sys.argv[2]
Gst.init(None)
pipeline = Gst.parse_launch(f"{description} ! appsink name=sink sync=false max-buffers=2")
sink = pipeline.get_by_name("sink")
pipeline.set_state(Gst.State.PLAYING)
for _ in range(WARM_UP):
    picture()
print("begins", flush=True)
frames, delays, begun, before = 0, [], time.monotonic(), used()
while time.monotonic() - begun < seconds:
    captured = picture()
    frames += 1
    if captured != Gst.CLOCK_TIME_NONE:
        delays.append((pipeline.get_clock().get_time() - pipeline.get_base_time() - captured) / Gst.MSECOND)
took, cpu = time.monotonic() - begun, used() - before
print("ends", flush=True)
print(json.dumps({"frames": frames, "seconds": took, "cpu": cpu, "delays": delays}), flush=True)
pipeline.set_state(Gst.State.NULL)
