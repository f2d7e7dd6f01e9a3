"""A program's connection to camarbd, the broker of this machine's cameras, on libcamarb.

    import camarb

    with camarb.Client(app="org.example.Booth") as client, client.session("front") as session:
        session.pictures = True
        session.start()
        while client.wait():
            while event := client.next_event():
                if event.type is camarb.EventType.WAS_INTERRUPTED:
                    print("interrupted:", event.reason, "by", event.interrupter)
            while frame := session.next_frame():
                with frame:
                    show(frame.planes)

A session that is interrupted comes back by itself, with its configuration and without its recording; so does one whose broker
ends. What happens to sessions, in which order, and what each cause means, is docs/semantics.md of camarb.

Times: `timeout` is in seconds, as everywhere in Python, and None is without end. Moments and durations of events and frames are
nanoseconds, as in the library, moments those of `time.monotonic_ns()`.

Errors are `camarb.Error`: a sentence, and D-Bus's name where the broker said it.

Threads: a client and all that belongs to it is used by one thread at a time. After a fork a client is its parent's.

A program with a loop of its own waits until `client.fileno()` is readable, calls `client.dispatch()`, and takes events and frames
until there are none: `loop.add_reader(client.fileno(), take)` in asyncio, `register(client, EVENT_READ)` in selectors.
"""
import os as _os

from ._client import (Call, Camera, Client, Control, Error, Event, EventType, Format, Frame, Preview, Session, Slate, SlateKind, State,
                      device_orientation, frame_rate_fraction, orientation_angle, orientation_exif, orientation_file_angle, version,
                      video_orientation, write_sound)

# That of the module; `version()` is the library's.
with open(_os.path.join(_os.path.dirname(__file__), "VERSION"), encoding="utf-8") as _file:
    __version__ = _file.read().strip()

__all__ = ["Call", "Camera", "Client", "Control", "Error", "Event", "EventType", "Format", "Frame", "Preview", "Session", "Slate",
           "SlateKind", "State", "device_orientation", "frame_rate_fraction", "orientation_angle", "orientation_exif",
           "orientation_file_angle", "version", "video_orientation", "write_sound"]
