"""Microphones in PipeWire, told by camagent: a call interrupts sessions that use audio, and nobody else. PipeWire and its
session manager are the test's own, with a microphone that hears nothing."""
import contextlib, json, os, pathlib, select, shutil, tempfile

from desktop import Agent, are_known, tells_apart, unknown
from harness import PATIENCE, Daemon, claim, end, ran, spawn, wait_until
from screen import needs

CAUSE = "audio-device-in-use-by-another-client"
SOURCE = "fake-microphone"
# A session that uses audio is interrupted here while another app has a microphone.
POLICY = "ios9"


class Sound:
    """A bus, PipeWire, its session manager and a microphone, in a directory of their own, as `user` if one is given; each
    ended by its own id."""

    def __init__(self, user=None, **variables):
        self.user = user
        needs("dbus-daemon", "pipewire", "wireplumber", "pw-cli", "pw-dump", "pw-record", "pw-link")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="camarb-sound."))
        if user is not None:
            os.chown(self.directory, user, user)
        self.variables = {"XDG_RUNTIME_DIR": str(self.directory), "HOME": str(self.directory), **variables}
        self.log = self.directory / "log"
        self.running = []
        reading, writing = os.pipe()
        self.start("dbus-daemon", "--session", "--nofork", f"--print-address={writing}", passing=[writing])
        os.close(writing)
        assert select.select([reading], [], [], PATIENCE)[0], "dbus-daemon says no address"
        self.variables["DBUS_SESSION_BUS_ADDRESS"] = os.read(reading, 4096).decode().strip()
        os.close(reading)
        self.bus, self.running = self.running, []
        self.begin()

    def environment(self):
        return {**{key: value for key, value in os.environ.items() if not key.startswith(("PIPEWIRE", "DISPLAY"))}, **self.variables}

    def start(self, *command, passing=()):
        process = spawn(*command, log=self.log, user=self.user, env=self.environment(), pass_fds=passing)
        self.running.append(process)
        return process

    def begin(self):
        self.serve()
        self.ask("pw-cli", "create-node", "adapter",
                 f"{{ factory.name=support.null-audio-sink node.name={SOURCE} media.class=Audio/Source/Virtual "
                 "object.linger=true audio.position=MONO }")
        wait_until("the microphone", lambda: self.state(SOURCE))

    def serve(self):
        self.server = self.start("pipewire")
        wait_until("PipeWire's socket", (self.directory / "pipewire-0").exists)
        self.manage()

    def manage(self):
        self.manager = self.start("wireplumber")
        wait_until("PipeWire's session manager", lambda: any(
            (one.get("info") or {}).get("props", {}).get("application.name") == "WirePlumber" for one in self.objects()))

    def end(self, processes):
        for process in reversed(processes):
            end(process)
        processes.clear()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end(self.running)
        self.end(self.bus)
        if kind is not None:
            print(f"  PipeWire and its like said:\n{self.log.read_text(errors='replace')}")
        shutil.rmtree(self.directory, ignore_errors=True)

    def ask(self, *command):
        return ran(*command, env=self.environment(), user=self.user).stdout

    def objects(self):
        return json.loads(self.ask("pw-dump") or "[]")

    def state(self, name):
        """The state of a node, or None where there is none of this name."""
        return next((one["info"]["state"] for one in self.objects()
                     if one.get("info") and one["info"].get("props", {}).get("node.name") == name
                     and "state" in one["info"]), None)

    def call(self):
        """A call: a program that listens to the microphone and throws away what it hears."""
        call = self.start("pw-record", "--media-role", "Communication", "--target", SOURCE, "/dev/null")
        wait_until("the call to listen", lambda: self.state("pw-record") == "running")
        return call

    def hang_up(self, call):
        end(call)
        self.running.remove(call)

    def link(self, on):
        self.ask("pw-link", *([] if on else ["-d"]), f"{SOURCE}:capture_MONO", "pw-record:input_MONO")


def agent(daemon, sound):
    return Agent(daemon, "--windows", "none", **sound.variables)


def named(interrupter, program):
    """Whether a program is the one that is named; where all processes of this run are one unit's, that is the name."""
    return interrupter == program if tells_apart() else interrupter


@contextlib.contextmanager
def phone(cameras=("front=simulated",)):
    with Sound() as sound, Daemon(policy=POLICY, cameras=cameras) as daemon, agent(daemon, sound):
        yield sound, daemon


def film(daemon, **configuration):
    return daemon.running("film", usesAudio=True, **configuration)[0]


@claim("a call on a PipeWire microphone interrupts a session that uses audio with cause 2, and its end releases it; a call that is held "
       "releases the microphone, and takes it again when it goes on")
def a_call():
    with phone(("front=simulated", "back=simulated")) as (sound, daemon):
        are_known(daemon, what="microphones")
        filming, (silent, _) = film(daemon), daemon.running("silent", "back")
        for _ in range(2):
            call = sound.call()
            interruption = filming.is_interrupted(CAUSE)
            assert named(interruption[5], "pw-record"), interruption
            filming.wait("DidStopRunning")
            sound.hang_up(call)
            ended = filming.resumes()
            assert ended[2] == interruption[2] and ended[3] == [CAUSE], (interruption, ended)
        sound.call()
        filming.wait("WasInterrupted")
        # Without a link no sample flows, as in a stream that its program has paused.
        sound.link(False)
        filming.resumes()
        sound.link(True)
        filming.wait("WasInterrupted")
        silent.is_not_told("WasInterrupted")


@claim("a call through PulseAudio's protocol is the calling app's, and not of the server that relays it")
def pulseaudio():
    needs("pipewire-pulse", "parec")
    with phone() as (sound, daemon):
        sound.start("pipewire-pulse")
        wait_until("PulseAudio's socket", (sound.directory / "pulse" / "native").exists)
        filming = film(daemon)
        call = sound.start("parec", "--raw", "--device", SOURCE, "/dev/null")
        assert named(filming.wait("WasInterrupted")[5], "parec")
        sound.hang_up(call)
        filming.wait("InterruptionEnded")


@claim("without PipeWire camagent goes on and says so; when PipeWire goes nobody has a microphone, and when it comes all is known, also to "
       "a broker that was killed and started anew")
def comes_and_goes():
    with Sound() as sound, Daemon(policy=POLICY) as daemon:
        sound.end(sound.running)
        with agent(daemon, sound) as one:
            one.says("microphones: PipeWire does not run")
            assert "microphones" in unknown(daemon)
            sound.begin()
            are_known(daemon, what="microphones")
            filming = film(daemon)
            sound.call()
            filming.wait("WasInterrupted")
            sound.end(sound.running)
            filming.wait("InterruptionEnded")
            one.says("microphones: PipeWire went away")
            are_known(daemon, False, "microphones")
            sound.begin()
            are_known(daemon, what="microphones")
            sound.call()
            filming.wait("WasInterrupted")
            daemon.restart()
            are_known(daemon, what="microphones")
            app = daemon.app("film")
            app.session(usesAudio=True).start()
            app.is_interrupted(CAUSE)
