#!/usr/bin/python3
"""Prints how much moves before a camera, with OpenCV and camarbsrc. While the camera is away, the pictures are slates.

usage: opencv-pipeline.py PICTURES
"""
import cv2, sys

PIPELINE = "camarbsrc app=org.example.Motion ! videoconvert ! video/x-raw,format=BGR ! appsink drop=true max-buffers=1"
camera, before = cv2.VideoCapture(PIPELINE, cv2.CAP_GSTREAMER), None
if not camera.isOpened():
    raise SystemExit("There are no pictures: GStreamer finds no camarbsrc, or camarbsrc no camarbd.")
for number in range(int(sys.argv[1])):
    is_there, picture = camera.read()
    if not is_there:
        raise SystemExit("The pipeline ended.")
    grey = cv2.blur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), (5, 5))
    moved = 0 if before is None else cv2.countNonZero(cv2.inRange(cv2.absdiff(grey, before), 20, 255))
    before = grey
height, width = grey.shape
print(f"{number + 1} pictures of {width}x{height}; in the last one {100 * moved / grey.size:.1f} % moved")
