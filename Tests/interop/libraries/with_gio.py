"""An app that uses cameras through Gio, whose object manager keeps all objects and their properties up to date by itself."""
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib

from lines import listen, say, show

SESSION = "org.camarb.Session1"
FLAGS = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
BUS = Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION


class App:
    def __init__(self, way, address, camera, loop):
        self.loop, self.camera = loop, camera
        connection = Gio.DBusConnection.new_for_address_sync(address, FLAGS | BUS if way == "bus" else FLAGS, None, None)
        # Between peers there are no names.
        name = "org.camarb" if way == "bus" else None
        self.manager = Gio.DBusObjectManagerClient.new_sync(
            connection, Gio.DBusObjectManagerClientFlags.NONE, name, "/org/camarb", None, None, None)
        self.manager.connect("object-added", self.added)
        self.manager.connect("interface-proxy-properties-changed", self.changed)
        self.manager.connect("interface-proxy-signal", self.heard)
        self.manager.connect("object-removed", self.removed)
        assert self.proxy(f"/org/camarb/camera/{camera}", "org.camarb.Camera1").get_cached_property("Present").unpack()
        broker = self.proxy("/org/camarb/Broker1", "org.camarb.Broker1")
        self.call(broker, "DeclareClient", "(a{sv})", {"app": GLib.Variant("s", "photos")})
        (self.path,) = self.call(broker, "CreateSession", "(sa{sv})", camera, {})
        listen(lambda word: GLib.idle_add(self.do, word))

    def proxy(self, path, interface):
        return self.manager.get_interface(path, interface)

    @staticmethod
    def call(proxy, member, signature="()", *arguments):
        return proxy.call_sync(member, GLib.Variant(signature, arguments), Gio.DBusCallFlags.NONE, -1, None).unpack()

    def added(self, manager, found):
        if found.get_object_path() == self.path:
            self.session = found.get_interface(SESSION)
            names = self.session.get_cached_property_names()
            say(properties={name: self.session.get_cached_property(name).unpack() for name in names})

    def changed(self, manager, found, proxy, changed, named):
        if found.get_object_path() == self.path:
            changed = changed.unpack()
            for name, value in changed.items():
                assert self.session.get_cached_property(name).unpack() == value, name
            say(changed=changed, named=named)
        elif "Holder" in changed.keys():
            say(holder=changed.unpack()["Holder"])

    def heard(self, manager, found, proxy, sender, name, body):
        if found.get_object_path() != self.path:
            return
        say(signal=name, body=body.unpack())
        if name == "DidStartRunning":
            answer, descriptors = self.session.call_with_unix_fd_list_sync(
                "OpenStream", None, Gio.DBusCallFlags.NONE, -1, None, None)
            show(descriptors.get(answer.unpack()[0]))

    def removed(self, manager, found):
        if found.get_object_path() == self.path:
            say(closed=self.path)
            self.loop.quit()

    def do(self, word):
        self.call(self.session, {"start": "StartRunning", "stop": "StopRunning", "": "Close"}[word])


loop = GLib.MainLoop()
app = App(*sys.argv[1:], loop)
loop.run()
