"""An app that uses cameras through python-sdbus. That opens no address but a bus's, so the socket is said to be one."""
import asyncio, os, sys

import sdbus
from sdbus import DbusInterfaceCommonAsync, dbus_method_async, dbus_signal_async

from lines import listen, say, show


class Broker(DbusInterfaceCommonAsync, interface_name="org.camarb.Broker1"):
    @dbus_method_async("a{sv}")
    async def declare_client(self, attributes): ...

    @dbus_method_async("sa{sv}", "o")
    async def create_session(self, camera, configuration): ...


class Session(DbusInterfaceCommonAsync, interface_name="org.camarb.Session1"):
    @dbus_method_async()
    async def start_running(self): ...

    @dbus_method_async()
    async def stop_running(self): ...

    @dbus_method_async(result_signature="h")
    async def open_stream(self): ...

    @dbus_method_async()
    async def close(self): ...

    @dbus_signal_async("tttasssts")
    def was_interrupted(self): ...

    @dbus_signal_async("tttasxbt")
    def interruption_ended(self): ...

    @dbus_signal_async("ttt")
    def did_start_running(self): ...

    @dbus_signal_async("tt")
    def did_stop_running(self): ...


def plain(value):
    """Without the names of types."""
    if isinstance(value, tuple):
        return plain(value[1])
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


async def main(address, camera):
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
    sdbus.set_default_bus(sdbus.sd_bus_open_user())
    words, loop = asyncio.Queue(), asyncio.get_running_loop()
    listen(lambda word: loop.call_soon_threadsafe(words.put_nowait, word))
    broker = Broker.new_proxy("org.camarb", "/org/camarb/Broker1")
    await broker.declare_client({"app": ("s", "photos")})
    path = await broker.create_session(camera, {})
    session = Session.new_proxy("org.camarb", path)

    async def hear(name, signal):
        async for body in signal:
            say(signal=name, body=body)
            if name == "DidStartRunning":
                # The library closes its own.
                descriptor = os.dup(await session.open_stream())
                await loop.run_in_executor(None, show, descriptor)

    async def hear_changes():
        async for _, changed, named in session.properties_changed:
            say(changed={name: plain(value) for name, value in changed.items()}, named=named)

    hearing = [asyncio.create_task(hear(name, signal)) for name, signal in (
        ("WasInterrupted", session.was_interrupted), ("InterruptionEnded", session.interruption_ended),
        ("DidStartRunning", session.did_start_running), ("DidStopRunning", session.did_stop_running))]
    hearing.append(asyncio.create_task(hear_changes()))
    properties = await session._properties_get_all("org.camarb.Session1")
    say(properties={name: plain(value) for name, value in properties.items()})
    while word := await words.get():
        if word == "start":
            await session.start_running()
        elif word == "stop":
            await session.stop_running()
    await session.close()
    say(closed=path)


asyncio.run(main(*sys.argv[1:]))
