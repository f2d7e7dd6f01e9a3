#!/usr/bin/python3
"""An app that reaches no socket of the broker's: it calls org.camarb on the system bus, and has a session on the connection that it gets. It
runs in Flatpak's sandbox, and says what becomes of its session."""
import socket

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.auth import BEGIN, Authenticator
from jeepney.io.blocking import DBusConnection, open_dbus_connection

BROKER = DBusAddress("/org/camarb/Broker1", "org.camarb", "org.camarb.Broker1")
WORDS = {"DidStartRunning": "running", "WasInterrupted": "interrupted"}


def call(connection, at, member, signature=None, *body):
    reply = connection.send_and_get_reply(new_method_call(at, member, signature, body))
    assert reply.header.message_type is MessageType.method_return, f"{member}: {reply.body}"
    return reply.body


with open_dbus_connection(bus="SYSTEM", enable_fds=True, auth_timeout=60) as bus:
    channel = socket.socket(fileno=call(bus, BROKER, "OpenConnection")[0].to_raw_fd())
dialogue = Authenticator(enable_fds=True)
for line in dialogue:
    channel.sendall(line)
    dialogue.feed(channel.recv(1024))
channel.sendall(BEGIN)
broker = DBusConnection(channel, enable_fds=True)
(path,) = call(broker, BROKER, "CreateSession", "sa{sv}", "", {"frameRate": ("d", 3.0)})
# Its answer is read with all else: what comes before it counts.
broker.send(new_method_call(DBusAddress(path, "org.camarb", "org.camarb.Session1"), "StartRunning"))
while True:
    said = WORDS.get(broker.receive().header.fields.get(HeaderFields.member))
    if said:
        print(said, flush=True)
