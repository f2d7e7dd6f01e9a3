#!/bin/sh
# usage: pipeline.sh BUFFERS [SINK]      shows so many pictures of a camera, and prints what happens to it meanwhile
exec gst-launch-1.0 -m camarbsrc num-buffers="$1" app=org.example.Pipeline ! videoconvert ! "${2:-autovideosink}"
