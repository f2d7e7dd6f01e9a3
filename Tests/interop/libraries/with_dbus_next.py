"""An app that uses cameras through dbus-next, or through dbus-fast, which began as a copy of that."""
import asyncio, importlib, sys

from lines import listen, say, show

library, *arguments = sys.argv[1:]
Variant = importlib.import_module(library).Variant
MessageBus = importlib.import_module(f"{library}.aio").MessageBus
SIGNALS = ("WasInterrupted", "InterruptionEnded", "DidStartRunning", "DidStopRunning", "ConfigurationApplied")


def plain(value):
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


async def main(address, camera):
    words, loop = asyncio.Queue(), asyncio.get_running_loop()
    listen(lambda word: loop.call_soon_threadsafe(words.put_nowait, word))
    bus = await MessageBus(bus_address=address, negotiate_unix_fd=True).connect()

    async def proxy(path, *interfaces):
        found = bus.get_proxy_object("org.camarb", path, await bus.introspect("org.camarb", path))
        return [found.get_interface(name) for name in interfaces]

    (broker,) = await proxy("/org/camarb/Broker1", "org.camarb.Broker1")
    await broker.call_declare_client({"app": Variant("s", "photos")})
    path = await broker.call_create_session(camera, {})
    session, properties = await proxy(path, "org.camarb.Session1", "org.freedesktop.DBus.Properties")

    def handler(name):
        # The library looks how many arguments a handler takes.
        count = len(next(one for one in session.introspection.signals if one.name == name).args)
        taken = ", ".join(f"a{i}" for i in range(count))
        return eval(f"lambda {taken}: heard({name!r}, [{taken}])", {"heard": heard})

    def heard(name, body):
        say(signal=name, body=plain(body))
        if name == "DidStartRunning":
            asyncio.create_task(stream())

    async def stream():
        descriptor = await session.call_open_stream()
        await loop.run_in_executor(None, show, descriptor)

    for name in SIGNALS:
        snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
        getattr(session, "on" + snake)(handler(name))
    properties.on_properties_changed(lambda interface, changed, named: say(changed=plain(changed), named=named))
    say(properties=plain(await properties.call_get_all("org.camarb.Session1")))
    while word := await words.get():
        if word == "start":
            await session.call_start_running()
        elif word == "stop":
            await session.call_stop_running()
    await session.call_close()
    say(closed=path)


asyncio.run(main(*arguments))
