#!/usr/bin/python3
"""An app that knows no broker: asks the desktop portal for a camera, and becomes a program that writes its pictures, small, to standard
output. It runs in Flatpak's sandbox, and names no camera."""
import os

from jeepney import DBusAddress, MatchRule, new_method_call
from jeepney.io.blocking import open_dbus_connection

SIDE = 16
PORTAL, REQUEST = "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Request"
camera = DBusAddress("/org/freedesktop/portal/desktop", PORTAL, "org.freedesktop.portal.Camera")

with open_dbus_connection(enable_fds=True) as bus:
    def call(member, signature, *body):
        reply = bus.send_and_get_reply(new_method_call(camera, member, signature, body))
        assert reply.header.message_type.name == "method_return", f"{member}: {reply.body}"
        return reply.body[0]

    path = f"/org/freedesktop/portal/desktop/request/{bus.unique_name[1:].replace('.', '_')}/mirror"
    with bus.filter(MatchRule(type="signal", interface=REQUEST, member="Response", path=path)) as answers:
        assert call("AccessCamera", "a{sv}", {"handle_token": ("s", "mirror")}) == path
        response = bus.recv_until_filtered(answers).body[0]
    assert response == 0, f"the portal's answer is {response}"
    connection = call("OpenPipeWireRemote", "a{sv}", {}).to_raw_fd()
os.set_inheritable(connection, True)
os.execvp("gst-launch-1.0", [
    "gst-launch-1.0", "-q", "pipewiresrc", f"fd={connection}", "!", "video/x-raw,width=192,height=144,framerate=15/1", "!", "queue",
    "leaky=downstream", "!", "videoconvert", "!", "videoscale", "method=nearest-neighbour", "!",
    f"video/x-raw,format=RGB,width={SIDE},height={SIDE}", "!", "fdsink", "sync=false"])
