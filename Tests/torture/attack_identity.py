"""Programs that pass for others: by nested control groups, as the recorder core's or the broker's own user, after they
connected; and what is told of others."""
import contextlib, ctypes, os, pathlib, signal

import groups
from harness import BROKER, CAMERA, PATIENCE, SHELL, App, Daemon, Refused, end, spawn, wait_until
from rows import ATTACKER, NEIGHBOUR, Child, Figure, attack, beside, marks, neighbour, row

BROKERS_USER, RECORDERS_USER = 901, 902


def starts(address, group, seconds):
    """An app in that control group that asks to run: whether it was let run, and its rank."""
    groups.wait_for(group)
    app = App(address)
    try:
        session = app.session()
        session.start()
        with contextlib.suppress(AssertionError):
            app.wait("DidStartRunning", patience=seconds)
    except Refused:
        return [False, []]
    said = app.call(BROKER, "GetStatus")[2]
    return ["DidStartRunning" in app.names(), [one["rank"][1] for one in said if f"/{one['session'][1]}" in session.path]]


def in_group(user, group, function, *arguments):
    child = Child(user, function, *arguments)
    groups.put(child.pid, group)
    return child


@row("nested-control-groups", "a unit below another unit is never taken for the system's own",
     "processes of another user in groups that end in system.slice/evacuation.service, as containers and delegated "
     "services have them, while the photo booth holds the camera under kiosk.toml")
def nested():
    booth = "/system.slice/photobooth.service"
    attacks = ["/system.slice/camarb-torture.service/evacuation.service",
               "/system.slice/camarb-torture.service/system.slice/evacuation.service",
               "/machine.slice/machine-torture.scope/system.slice/evacuation.service",
               "/machine.slice/evacuation.service", "/camarb-torture/system.slice/evacuation.service"]
    real = "/system.slice/evacuation.service"

    def holds(address, path):
        groups.wait_for(booth)
        app = App(address)
        app.running()
        pathlib.Path(path, "holds").touch()
        wait_until("the end", lambda: app.poll(0.05) or pathlib.Path(path, "over").exists(), 120)
        return app.names()

    with groups.made(booth, real, *attacks), Daemon(policy="kiosk", claims=False) as daemon:
        mark = marks(daemon)
        with in_group(NEIGHBOUR, booth, holds, daemon.address, str(mark)) as holder:
            wait_until("the booth to hold the camera", (mark / "holds").exists)
            with neighbour(daemon, 2) as calling:
                won = 0
                for group in attacks:
                    ran, ranks = in_group(ATTACKER, group, starts, daemon.address, group, 0.3).result()
                    won += ran or "safety" in ranks
                calls = calling.result()
            ran, ranks = in_group(ATTACKER, real, starts, daemon.address, real, PATIENCE).result()
            (mark / "over").touch()
            heard = holder.result()
        yield Figure("nested units that were ranked or run as the evacuation camera", won, f"of {len(attacks)}", most=0)
        yield Figure("interruptions of the booth in all, the real service's one", heard.count("WasInterrupted"), most=1)
        yield Figure("the real service's start", int(ran and ranks == ["safety"]), "of 1", least=1)
        yield from beside(daemon, calls)


FACTS_FOR_ALL = (("Override", "s", ""), ("SetPrivacy", "sb", "", True), ("SetSleep", "b", True),
                 ("SetPressure", "s", "critical"), ("SetLoginSession", "sbb", "3", False, True),
                 ("SetAttribute", "sss", "app", "duty", ""), ("PlaceApp", "ssb", "photos@0", "background", False))


def asks(address):
    app = App(address)
    refused = 0
    for at, call, error in (*((SHELL, fact, "NotTrusted") for fact in FACTS_FOR_ALL), (BROKER, ("Trace",), "AccessDenied")):
        try:
            app.call(at, *call)
        except Refused as refusal:
            refused += refusal.error == error
    return refused


def looks_in(process):
    """The ways into another process that are refused to this one: its memory, ptrace, and its descriptors."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    refused = 0
    for look, *how in ((os.open, f"/proc/{process}/mem", os.O_RDONLY), (os.open, f"/proc/{process}/mem", os.O_RDWR),
                       (os.listdir, f"/proc/{process}/fd")):
        try:
            look(*how)
        except PermissionError:
            refused += 1
    refused += libc.ptrace(ctypes.c_long(0x4206), ctypes.c_long(process), None, None) < 0  # PTRACE_SEIZE
    return refused + (libc.syscall(438, os.pidfd_open(process), 3, 0) < 0)  # pidfd_getfd


@attack("recorder-taken-over", "an attacker who takes over a recorder core, or any process of the broker's user, is believed no more than "
        "anybody, and does not get into the broker",
        "a process of the recorder core's user and one of the broker's own: every fact for all users, a trace, its memory, "
        "ptrace and its descriptors", cameras=(f"{CAMERA}=none",), extra=("--service",), user=BROKERS_USER)
def taken_over(daemon):
    # As the package runs it: a user of its own, as a service. A program may be looked into by its user until it forbids that.
    # As a control: the same ways lead into a process that does not forbid it.
    open_house = spawn("sleep", "60", user=BROKERS_USER)
    into_another = Child(BROKERS_USER, looks_in, open_house.pid).result()
    end(open_house, signal.SIGKILL)
    users = (BROKERS_USER, RECORDERS_USER)
    with neighbour(daemon, 1) as calling:
        facts = sum(Child(user, asks, daemon.address).result() for user in users)
        looks = sum(Child(user, looks_in, daemon.process.pid).result() for user in users)
        calls = calling.result()
    refused_to_root = Child(0, asks, daemon.address).result()
    yield Figure("facts and traces refused", facts, f"of {2 * (len(FACTS_FOR_ALL) + 1)}", least=2 * (len(FACTS_FOR_ALL) + 1))
    yield Figure("ways into the broker refused", looks, "of 10", least=10)
    yield Figure("ways into another process of that user refused, as a control", into_another, "of 5", most=1)
    # Root is no presence source, and nobody's app has the attribute: those two it is told.
    yield Figure("facts and traces refused to root", refused_to_root, most=2)
    yield from beside(daemon, calls)


@attack("weak-identity", "where the kernel knows a client by its number only, a client that is no longer what it was is cut before it has "
        "anything", "clients that change their user, or whose control group changes, between connecting and starting",
        claims=False, extra=("--weak-identities",))
def weak(daemon):
    real = "/system.slice/evacuation.service"

    def changes_user(address):
        os.seteuid(ATTACKER)
        app = App(address)
        session = app.session()
        os.seteuid(0)
        return starts_again(session)

    def changes_group(address, path):
        session = App(address).session()
        pathlib.Path(path, f"connected-{os.getpid()}").touch()
        groups.wait_for(real)
        return starts_again(session)

    def starts_again(session):
        with contextlib.suppress(Refused, OSError, AssertionError, EOFError):
            session.start()
            session.app.wait("DidStartRunning", patience=1.0)
            return True
        return False

    def stays(address):
        app = App(address)
        app.running()
        return [one["weak"][1] for one in app.call(BROKER, "GetStatus")[2]]

    with neighbour(daemon, 2) as calling:
        user_ran = Child(0, changes_user, daemon.address).result()
        with groups.made(real), Child(0, changes_group, daemon.address, str(daemon.directory)) as child:
            wait_until("it to connect", (daemon.directory / f"connected-{child.pid}").exists)
            groups.put(child.pid, real)
            group_ran = child.result()
        calls = calling.result()
    told = daemon.log.read_text().count("is not what it was when it connected, and")
    yield Figure("clients that became others and ran", int(user_ran) + int(group_ran), "of 2", most=0)
    yield Figure("lines about them in the journal", told, least=2, most=2)
    shown = Child(0, stays, daemon.address).result()
    yield Figure("clients that stayed themselves and ran, shown as weak", int(shown == [True]), "of 1", least=1)
    yield from beside(daemon, calls)


@attack("decisions-of-others", "a watcher of another user hears facts of the machine, and nobody's name",
        "another user watches while an operator chooses an app, login sessions change, and an app of root's starts, is cut and stops")
def decisions(daemon):
    secrets = ("photos", "rival", "alices-seat-7", "operator", "recorder", "login-session")

    def watches(address, path):
        app = App(address)
        app.call(BROKER, "Watch", "b", True)
        pathlib.Path(path, f"watches-{os.getuid()}").touch()
        app.wait("Decided", lambda body: "wake" in body[2], patience=60)
        return [f"{body[2]}\n{body[3]}" for body in app.heard("Decided")]

    folder = marks(daemon)
    with Child(ATTACKER, watches, daemon.address, str(folder)) as other, \
            Child(0, watches, daemon.address, str(folder)) as root:
        wait_until("both to watch", lambda: len(list(folder.iterdir())) == 2)
        shell = daemon.shell()
        _, photos = daemon.running("photos")
        shell.place("rival@0", "fullscreen", True)
        _, rivals = daemon.running("rival")
        shell.call(SHELL, "Override", "s", "photos@0")
        shell.call(SHELL, "SetLoginSession", "sbb", "alices-seat-7", False, True)
        photos.call("StopRunning")
        rivals.call("StopRunning")
        for fact in (("Override", "s", ""), ("SetSleep", "b", True), ("SetSleep", "b", False)):
            shell.call(SHELL, *fact)
        heard, all_of_it = other.result(), root.result()
    leaked = [text for text in heard if any(word in text for word in secrets)]
    yield Figure("decisions that another user heard", len(heard), least=2)
    yield Figure("of them with somebody's name", len(leaked), most=0)
    yield Figure("kinds of names that root heard, as a control",
                 sum(any(word in text for text in all_of_it) for word in secrets), f"of {len(secrets)}", least=4)
    yield from leaked[:3]
