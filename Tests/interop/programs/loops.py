"""usage: loops.py FOLDER          two cameras at once: one in asyncio, the other in a thread that records with sound of a third one's"""
import array, asyncio, pathlib, socket, sys, threading, time

import camarb
from camarb import EventType

FOLDER = pathlib.Path(sys.argv[1])


async def watch():
    """Events and frames as asyncio has them."""
    with camarb.Client(app="org.example.Loops") as client, client.session("front") as session:
        session.pictures, frames, photo, came = True, 0, asyncio.Event(), asyncio.Event()
        asyncio.get_running_loop().add_reader(client.fileno(), came.set)
        session.start()
        while frames < 20 or not photo.is_set():
            await asyncio.wait_for(came.wait(), 20)
            came.clear()
            client.dispatch()
            while event := client.next_event():
                if event.type is EventType.DID_START_RUNNING:
                    session.capture_photo(FOLDER / "front.jpeg")
                elif event.type is EventType.PHOTO_CAPTURED and not event.error:
                    photo.set()
            while frame := session.next_frame():
                with frame:
                    frames += 1
        asyncio.get_running_loop().remove_reader(client.fileno())
        return frames


def speak(microphone, over):
    samples = array.array("h", [4000] * 800)
    while not over.wait(0.05):
        camarb.write_sound(microphone, samples, time.monotonic_ns() - 50_000_000, 16_000, 1)


def record(said):
    with camarb.Client(app="org.example.Loops") as client, client.session("back", usesAudio=True) as session:
        session.start().result()
        while not (event := client.next_event()) or event.type is not EventType.DID_START_RUNNING:
            client.wait(20)
        one, microphone = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        session.attach_microphone(one, 16_000, 1).result()
        one.close()
        over = threading.Event()
        speaker = threading.Thread(target=speak, args=(microphone, over))
        speaker.start()
        session.start_recording(FOLDER / "back.mkv", maxDuration=1).result()
        ends = (event for event in client.events(20) if event.type is EventType.RECORDING_FINISHED)
        said.append(next(ends).reason)
        over.set()
        speaker.join()
        microphone.close()


reasons = []
recorder = threading.Thread(target=record, args=(reasons,))
recorder.start()
seen = asyncio.run(watch())
recorder.join()
print(f"{seen >= 20}, {reasons}")
