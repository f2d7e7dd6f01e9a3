"""A user's session bus with the services of a desktop on it, which say what a test wants: a panel, a notification server,
a permission store."""
import collections, time

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return
from jeepney.io.blocking import open_dbus_connection

from harness import PATIENCE, Refused, wait_until
from message_bus import BUS, Service

ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"


class Notification(collections.namedtuple("Notification", "id app replaces icon summary body actions hints time")):
    def key(self, label):
        """What the button with that label is called to the program that showed it."""
        return self.actions[self.actions.index(label) - 1]


class Watcher(Service):
    """What panels register with, and items."""

    name, path = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"

    def begin(self):
        # Names under which items are, in the order in which they came.
        self.items = []
        rule = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"
        self.connection.send_and_get_reply(new_method_call(BUS, "AddMatch", "s", (rule,)), timeout=PATIENCE)

    def answer(self, member, call):
        if member != "RegisterStatusNotifierItem":
            raise KeyError(member)
        self.items.append(call.body[0])
        return new_method_return(call)

    def heard(self, member, body):
        if member == "NameOwnerChanged" and body[2] == "" and body[0] in self.items:
            self.items.remove(body[0])


class Notifications(Service):
    name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"

    def __init__(self, bus, *capabilities):
        self.capabilities = list(capabilities)
        self.asked = 0
        self.shown, self.closed = [], []
        super().__init__(bus)

    def answer(self, member, call):
        if member == "GetCapabilities":
            self.asked += 1
            return new_method_return(call, "as", (self.capabilities,))
        if member == "Notify":
            return new_method_return(call, "u", (self.id_of(call),))
        if member == "CloseNotification":
            return new_method_return(call)
        raise KeyError(member)

    def id_of(self, call):
        return call.body[1] or len(self.shown) + 1

    def answered(self, member, call):
        # Only now: a button can be pressed once the number of the notification was told.
        if member == "Notify":
            self.shown.append(Notification(self.id_of(call), *call.body))
        if member == "CloseNotification":
            self.closed.append(call.body[0])
            self.emit("NotificationClosed", "uu", call.body[0], 3)

    def press(self, notification, label):
        self.emit("ActionInvoked", "us", notification.id, notification.key(label))

    def wait(self, what, count=1):
        """The notification of that number, from 1, whose text has these words."""
        return wait_until(f"notification {count} with {what!r}; shown: {self.shown}", lambda: (
            [one for one in self.shown if what in one.summary + one.body] + [None] * count)[count - 1])


class Store(Service):
    name = "org.freedesktop.impl.portal.PermissionStore"
    path = "/org/freedesktop/impl/portal/PermissionStore"

    def __init__(self, bus, **permissions):
        """What is kept for each app; a store of which nothing was asked yet has no entry at all."""
        self.permissions = {app.replace("_", "."): words for app, words in permissions.items()}
        self.looked = 0
        # Seconds that it takes to answer, having said at once that it has changed.
        self.restless = 0
        super().__init__(bus)

    def answer(self, member, call):
        if member != "Lookup":
            raise KeyError(member)
        assert call.body == ("devices", "camera"), call.body
        self.looked += 1
        if self.restless:
            self.emit("Changed", "ssbva{sas}", "devices", "camera", False, ("y", 0), self.permissions)
            time.sleep(self.restless)
        if not self.permissions:
            return new_error(call, "org.freedesktop.portal.Error.NotFound", "s", ("No entry for camera",))
        return new_method_return(call, "a{sas}v", (self.permissions, ("y", 0)))

    def set(self, permissions):
        self.permissions = permissions
        self.emit("Changed", "ssbva{sas}", "devices", "camera", False, ("y", 0), permissions)


class Panel:
    """What a panel asks an item, and what it says where something is clicked."""

    def __init__(self, bus, item):
        self.connection = open_dbus_connection(bus=bus.address, auth_timeout=PATIENCE)
        self.item = item

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def call(self, path, interface, member, signature=None, *body):
        message = new_method_call(DBusAddress(path, self.item, interface), member, signature, body)
        answer = self.connection.send_and_get_reply(message, timeout=PATIENCE)
        if answer.header.message_type is MessageType.error:
            raise Refused(answer.header.fields[HeaderFields.error_name], answer.body[0] if answer.body else "")
        return answer.body

    def menu_call(self, member, signature=None, *body):
        return self.call("/MenuBar", MENU, member, signature, *body)

    def properties(self):
        (found,) = self.call("/StatusNotifierItem", "org.freedesktop.DBus.Properties", "GetAll", "s", ITEM)
        return {name: value for name, (_, value) in found.items()}

    def lines(self):
        """The menu: pairs of a line's number and its label, "-" for a separator."""
        revision, (root, _, children) = self.menu_call("GetLayout", "iias", 0, -1, [])
        assert root == 0 and revision > 0
        return [(id, "-" if "type" in properties else properties["label"][1]) for _, (id, properties, _) in children]

    def line(self, label):
        return next((id for id, found in self.lines() if found == label), None)

    def click(self, id):
        self.menu_call("Event", "isvu", id, "clicked", ("s", ""), 0)
