#!/usr/bin/python3
"""Prints how much moves before a camera, with OpenCV and the frames of the module camarb, and why there are no pictures.

usage: opencv-frames.py PICTURES
"""
import camarb, cv2, sys

number, before = 0, None
with camarb.Client(app="org.example.Motion") as client, client.session() as session:
    session.pictures = True
    session.start()
    while number < int(sys.argv[1]):
        client.wait()
        while event := client.next_event():
            if event.type is camarb.EventType.WAS_INTERRUPTED:
                print(f"interrupted: {event.reason}", flush=True)
            elif event.type is camarb.EventType.DID_START_RUNNING:
                print("running", flush=True)
            elif event.error:
                raise SystemExit(event.error)
        frame = session.next_frame()
        if not frame:
            continue
        with frame:
            # What OpenCV makes is a copy, in colours; the luma alone is a grey picture already, without a conversion.
            picture = cv2.cvtColorTwoPlane(*frame.array(), cv2.COLOR_YUV2BGR_NV12)
            grey = cv2.blur(frame.array()[0], (5, 5))
            if not frame.is_intact:
                continue  # The camera went while it was copied.
        moved = 0 if before is None else cv2.countNonZero(cv2.inRange(cv2.absdiff(grey, before), 20, 255))
        number, before = number + 1, grey
height, width = picture.shape[:2]
print(f"{number} pictures of {width}x{height}; in the last one {100 * moved / grey.size:.1f} % moved")
