"""Programs that pass for others: by nested control groups, as the recorder core's or the broker's own user, after they
connected; and what is told of others."""
import ctypes, os, pathlib, subprocess, time

import groups
from harness import BROKER, CAMERA, PATIENCE, SHELL, App, Daemon, Refused, die_with_parent, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, beside, broker, neighbour, row

# Neither needs an entry in the user database.
BROKERS_USER, RECORDERS_USER = 901, 902


def starts(address, group, seconds):
    """An app in that control group that asks to run: how the broker calls it, and whether it was let run."""
    groups.wait_for(group)
    app = App(address)
    try:
        session = app.session()
        session.start()
        try:
            app.wait("DidStartRunning", patience=seconds)
            ran = True
        except AssertionError:
            ran = False
        said = app.call(BROKER, "GetStatus")[2]
        return [ran, [one["rank"][1] for one in said if f"/{one['session'][1]}" in session.path], ""]
    except Refused as refused:
        return [False, [], str(refused)]
    finally:
        app.close()


def in_group(user, group, function, *arguments):
    child = Child(user, function, *arguments)
    groups.put(child.pid, group)
    return child


@row("nested-control-groups", "a unit below another unit is never taken for the system's own",
     "processes of another user in groups that end in system.slice/evacuation.service, as containers and delegated "
     "services have them, while the photo booth holds the camera under kiosk.toml")
def nested(short):
    booth = "/system.slice/photobooth.service"
    attacks = ["/system.slice/camarb-torture.service/evacuation.service",
               "/system.slice/camarb-torture.service/system.slice/evacuation.service",
               "/machine.slice/machine-torture.scope/system.slice/evacuation.service",
               "/machine.slice/evacuation.service", "/camarb-torture/system.slice/evacuation.service"]
    real = "/system.slice/evacuation.service"

    def holds(address, path):
        groups.wait_for(booth)
        app = App(address)
        app.session().start()
        app.wait("DidStartRunning")
        pathlib.Path(path, "holds").touch()
        until = time.monotonic() + 120
        while not os.path.exists(os.path.join(path, "over")) and time.monotonic() < until:
            app.poll(0.05)
        app.close()
        return app.names()

    with groups.made(booth, real, *attacks), broker(policy="kiosk", claims=False) as daemon:
        mark = daemon.directory / "marks"
        mark.mkdir()
        mark.chmod(0o777)
        with in_group(NEIGHBOUR, booth, holds, daemon.address, str(mark)) as holder:
            wait_until("the booth to hold the camera", (mark / "holds").exists)
            with neighbour(daemon, 2) as calling:
                won = 0
                for group in attacks:
                    with in_group(ATTACKER, group, starts, daemon.address, group, 0.3) as attacker:
                        ran, ranks, refusal = attacker.result()
                    won += ran or "safety" in ranks
                calls = calling.result()
            # What the same start does from where only root puts a process: the row could fail.
            with in_group(ATTACKER, real, starts, daemon.address, real, PATIENCE) as evacuation:
                ran, ranks, refusal = evacuation.result()
            (mark / "over").touch()
            heard = holder.result()
        yield Figure("nested units that were ranked or run as the evacuation camera", won, f"of {len(attacks)}", most=0)
        yield Figure("interruptions of the booth in all, the real service's one", heard.count("WasInterrupted"), most=1)
        yield Figure("the real service's start", int(ran and ranks == ["safety"]), "of 1", least=1)
        yield from beside(daemon, calls)


def become_broker():
    """Before a program: as the package's broker starts. A program may be looked into by its user until it forbids that."""
    os.setgroups([])
    os.setresgid(BROKERS_USER, BROKERS_USER, BROKERS_USER)
    os.setresuid(BROKERS_USER, BROKERS_USER, BROKERS_USER)
    die_with_parent()


class ServiceDaemon(Daemon):
    """A camarbd as the package runs it: a user of its own, as a service."""

    def start(self):
        os.chown(self.directory, BROKERS_USER, BROKERS_USER)
        os.chmod(self.directory, 0o755)
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=become_broker)
        wait_until("camarbd's socket", lambda: self.path.exists() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()


FACTS_FOR_ALL = (("Override", "s", ""), ("SetPrivacy", "sb", "", True), ("SetSleep", "b", True),
                 ("SetPressure", "s", "critical"), ("SetLoginSession", "sbb", "3", False, True),
                 ("SetAttribute", "sss", "app", "duty", ""), ("PlaceApp", "ssb", "photos@0", "background", False))


def asks(address):
    """What is refused of what root alone may say and have."""
    app = App(address)
    refused = 0
    for member, signature, *body in FACTS_FOR_ALL:
        try:
            app.call(SHELL, member, signature, *body)
        except Refused as error:
            refused += error.name == "org.camarb.Error.NotTrusted"
    try:
        app.call(BROKER, "Trace")
    except Refused as error:
        refused += error.name == "org.camarb.Error.AccessDenied"
    app.close()
    return refused


def looks_in(process):
    """The ways into another process that are refused to this one: its memory, ptrace, and its descriptors."""
    libc = ctypes.CDLL(None, use_errno=True)
    refused = 0
    for mode in (os.O_RDONLY, os.O_RDWR):
        try:
            os.close(os.open(f"/proc/{process}/mem", mode))
        except PermissionError:
            refused += 1
    libc.ptrace.restype = ctypes.c_long
    attached = libc.ptrace(ctypes.c_long(0x4206), ctypes.c_long(process), None, None)  # PTRACE_SEIZE
    refused += attached < 0
    pidfd = os.pidfd_open(process)
    refused += libc.syscall(438, pidfd, 3, 0) < 0  # pidfd_getfd
    os.close(pidfd)
    try:
        os.listdir(f"/proc/{process}/fd")
    except PermissionError:
        refused += 1
    return refused


@row("recorder-taken-over", "an attacker who takes over a recorder core, or any process of the broker's user, is believed no more than "
     "anybody, and does not get into the broker",
     "a process of the recorder core's user and one of the broker's own: every fact for all users, a trace, its memory, "
     "ptrace and its descriptors")
def taken_over(short):
    with ServiceDaemon(cameras=(f"{CAMERA}=none",), extra=("--service",)) as daemon:
        # As a control: the same ways lead into a process that does not forbid it.
        open_house = subprocess.Popen(["sleep", "60"], preexec_fn=become_broker)
        try:
            with Child(BROKERS_USER, looks_in, open_house.pid) as looker:
                into_another = looker.result()
        finally:
            open_house.kill()
            open_house.wait()
        facts = looks = 0
        with neighbour(daemon, 1) as calling:
            for user in (BROKERS_USER, RECORDERS_USER):
                with Child(user, asks, daemon.address) as child:
                    facts += child.result()
                with Child(user, looks_in, daemon.process.pid) as child:
                    looks += child.result()
            calls = calling.result()
        with Child(0, asks, daemon.address) as root:
            refused_to_root = root.result()
        yield Figure("facts and traces refused", facts, f"of {2 * (len(FACTS_FOR_ALL) + 1)}",
                     least=2 * (len(FACTS_FOR_ALL) + 1))
        yield Figure("ways into the broker refused", looks, "of 10", least=10)
        yield Figure("ways into another process of that user refused, as a control", into_another, "of 5", most=1)
        # Root is no presence source, and nobody's app has the attribute: those two it is told.
        yield Figure("facts and traces refused to root", refused_to_root, most=2)
        yield from beside(daemon, calls)


@row("weak-identity", "where the kernel knows a client by its number only, a client that is no longer what it was is cut before it has "
     "anything", "clients that change their user, or whose control group changes, between connecting and starting")
def weak(short):
    def changes_user(address):
        os.seteuid(ATTACKER)
        app = App(address)
        session = app.session()
        os.seteuid(0)
        return starts_again(app, session)

    def changes_group(address, path):
        app = App(address)
        session = app.session()
        pathlib.Path(path, f"connected-{os.getpid()}").touch()
        groups.wait_for("/system.slice/evacuation.service")
        return starts_again(app, session)

    def starts_again(app, session):
        """Whether it ran, after it became another."""
        try:
            session.start()
            app.wait("DidStartRunning", patience=1.0)
            return True
        except (Refused, OSError, AssertionError, EOFError):
            return False
        finally:
            app.close()

    def ran(daemon, user):
        with Child(user, stays, daemon.address) as child:
            return child.result()

    def stays(address):
        app = App(address)
        session = app.session()
        session.start()
        app.wait("DidStartRunning")
        said = app.call(BROKER, "GetStatus")[2]
        app.close()
        return [one["weak"][1] for one in said]

    with broker(claims=False, extra=("--weak-identities",)) as daemon:
        with neighbour(daemon, 2) as calling:
            with Child(0, changes_user, daemon.address) as child:
                user_ran = child.result()
            with groups.made("/system.slice/evacuation.service"):
                with Child(0, changes_group, daemon.address, str(daemon.directory)) as child:
                    wait_until("it to connect", (daemon.directory / f"connected-{child.pid}").exists)
                    groups.put(child.pid, "/system.slice/evacuation.service")
                    group_ran = child.result()
            calls = calling.result()
        told = daemon.log.read_text().count("is not what it was when it connected, and")
        yield Figure("clients that became others and ran", int(user_ran) + int(group_ran), "of 2", most=0)
        yield Figure("lines about them in the journal", told, least=2, most=2)
        yield Figure("clients that stayed themselves and ran, shown as weak", int(ran(daemon, 0) == [True]), "of 1", least=1)
        yield from beside(daemon, calls)


@row("decisions-of-others", "a watcher of another user hears facts of the machine, and nobody's name",
     "another user watches while an operator chooses an app, login sessions change, and an app of root's starts, is cut "
     "and stops")
def decisions(short):
    secrets = ("photos", "rival", "alices-seat-7", "operator", "recorder", "login-session")

    def watches(address, path):
        app = App(address)
        app.call(BROKER, "Watch", "b", True)
        pathlib.Path(path, f"watches-{os.getuid()}").touch()
        app.wait("Decided", lambda body: "wake" in body[2], patience=60)
        # The lines, and the same as data.
        heard = [f"{body[2]}\n{body[3]}" for _, member, body in app.signals if member == "Decided"]
        app.close()
        return heard

    with broker() as daemon:
        marks = daemon.directory / "marks"
        marks.mkdir()
        marks.chmod(0o777)
        with Child(ATTACKER, watches, daemon.address, str(marks)) as other, \
                Child(0, watches, daemon.address, str(marks)) as root:
            wait_until("both to watch", lambda: len(list(marks.iterdir())) == 2)
            app, rival = daemon.app("photos"), daemon.app("rival")
            shell = daemon.shell()
            session = app.session()
            session.start()
            app.wait("DidStartRunning")
            shell.call(SHELL, "PlaceApp", "ssb", "rival@0", "fullscreen", True)
            session2 = rival.session()
            session2.start()
            rival.wait("DidStartRunning")
            shell.call(SHELL, "Override", "s", "photos@0")
            shell.call(SHELL, "SetLoginSession", "sbb", "alices-seat-7", False, True)
            session.call("StopRunning")
            session2.call("StopRunning")
            shell.call(SHELL, "Override", "s", "")
            shell.call(SHELL, "SetSleep", "b", True)
            shell.call(SHELL, "SetSleep", "b", False)
            heard, all_of_it = other.result(), root.result()
        leaked = [text for text in heard if any(word in text for word in secrets)]
        yield Figure("decisions that another user heard", len(heard), least=2)
        yield Figure("of them with somebody's name", len(leaked), most=0)
        yield Figure("kinds of names that root heard, as a control",
                     sum(any(word in text for text in all_of_it) for word in secrets), f"of {len(secrets)}", least=4)
        for text in leaked[:3]:
            yield text.replace("\n", " ⏎ ")
