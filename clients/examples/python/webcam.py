#!/usr/bin/python3
"""A webcam: shows what the camera sees, says why it does not, takes a photo and records.

usage: webcam.py [--camera ID] [--frames N] [--photo FILE] [--record FILE]    (with --frames: counts so many, and ends)
"""
import argparse, camarb
from camarb import EventType
options = argparse.ArgumentParser(usage=__doc__)
for name in ("--camera", "--photo", "--record"):
    options.add_argument(name, default="")
options.add_argument("--frames", type=int, default=0)
options = options.parse_args()
shown, waits_for = 0, {EventType.PHOTO_CAPTURED: options.photo, EventType.RECORDING_FINISHED: options.record}
with camarb.Client(app="org.example.Webcam") as client, client.session(options.camera) as session:
    session.pictures = True
    session.start()
    while not options.frames or shown < options.frames or any(waits_for.values()):
        client.wait()
        while event := client.next_event():
            if event.type in (EventType.WAS_INTERRUPTED, EventType.INTERRUPTION_CHANGED):
                print(f"interrupted: {event.reason}" + (f", by {event.interrupter}" if event.interrupter else ""), flush=True)
            elif event.type is EventType.DID_START_RUNNING:
                print("running", flush=True)
                options.photo and not shown and session.capture_photo(options.photo)
                options.record and not shown and session.start_recording(options.record)
            elif event.type in waits_for and waits_for[event.type]:
                print(f"{waits_for[event.type]}: {event.error or event.reason or 'done'}, {event.bytes} bytes", flush=True)
                waits_for[event.type] = ""
            elif event.error:
                raise SystemExit(event.error)
        while frame := session.next_frame():
            with frame:
                shown += 1
                if not options.frames:
                    luma, stride = frame.planes[0], frame.strides[0]
                    rows = [luma[y * stride:y * stride + frame.width:frame.width // 78] for y in range(0, frame.height, 32)]
                    print("\033[H" + "\n".join("".join(" .:-=+*#%@"[light // 26] for light in row) for row in rows))
                elif shown == options.frames:
                    print(f"{shown} frames of {frame.width}x{frame.height}", flush=True)
                    options.record and session.stop_recording()
