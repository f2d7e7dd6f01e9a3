"""Using up what there is of something that everybody needs: sessions, names, questions, lists."""
import contextlib, socket, tempfile, time

from jeepney import new_method_call

from flooding import answers, sessions
from harness import BROKER, SHELL, App, Refused
from rows import ATTACKER, IDS, Child, Figure, beside, broker, latency, memory, neighbour, peak, row

def take_sessions(address, connections, each, seconds):
    apps, got, why = sessions(address, connections, each)
    time.sleep(seconds)  # What it has it keeps for so long.
    del apps
    return [got, why]


@row("sessions", "a user may have 256 sessions, all users together a part of the memory, and what is released is given back",
     "64 connections with 64 sessions each, of one user and of eight subordinate ids")
def many_sessions(short):
    with broker() as daemon:
        app = daemon.app()
        app.call(BROKER, "GetStatus")
        with contextlib.ExitStack() as stack:
            one = stack.enter_context(Child(ATTACKER, take_sessions, daemon.address, 10, 64, 0.0))
            got, why = one.result()
            # What serving takes in any case, its code above all, is there now.
            before = memory(daemon)
            yield Figure("sessions of one user", got, most=256, least=256)
            yield f"and then: {why}"
            children = [stack.enter_context(Child(user, take_sessions, daemon.address, 10, 64, 6.0)) for user in IDS]
            # When they have what they get, and hold it.
            time.sleep(3)
            calls = neighbour(daemon, 2).result()
            status = app.call(BROKER, "GetStatus")
            yield Figure("sessions of eight ids", sum(child.result()[0] for child in children), most=8 * 256)
        yield f"budgets as root sees them: {len(status[0]['budgets'][1])}"
        yield from beside(daemon, calls)
        # The core's history keeps copies of its tables for a while; the rest goes back.
        time.sleep(1)
        yield Figure("camarbd's memory afterwards, above what it was beside one user", memory(daemon) - before, "MiB")


def take_names(address, connections):
    """One client speaks in each role for a user: as shell, as agent, and others are refused or displace them."""
    apps, placed, why = [], 0, ""
    for number in range(connections):
        try:
            app = App(address)
            apps.append(app)
            app.call(SHELL, "Attach", "s", ("shell", "agent")[number % 2])
            for place in range(1024):
                app.call(SHELL, "PlaceApp", "ssb", f"{number}-{place}-".ljust(120, "x"), "split", False)
                placed += 1
        except Refused as refused:
            why = refused.message
        except OSError:
            break
    return [placed, why]


@row("placed-names", "the names that a user places are bounded, over all its connections",
     "connections of one user that place 1,024 names of 120 bytes each")
def placed_names(short):
    with broker() as daemon:
        app = daemon.app()
        app.call(BROKER, "GetStatus")
        before = memory(daemon)
        with Child(ATTACKER, take_names, daemon.address, 4 if short else 16) as child:
            placed, why = child.result(patience=120)
        yield Figure("names placed", placed, most=2048, least=1024)
        yield f"and then: {why}"
        yield Figure("camarbd's memory at its peak, above what it was", memory(daemon, "VmHWM") - before, "MiB", most=16)


def place_lists(address, seconds, entries, distinct):
    """Long lists of placements without end: how many were taken and refused, and the last refusal."""
    app = App(address, "zoom")
    for _ in range(64):
        app.session()
    apps = [{"app": ("s", f"app{number % distinct}"), "presence": ("s", "split"), "focused": ("b", False)}
            for number in range(entries)]
    taken = refused = 0
    why = ""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            app.call(SHELL, "AttachPlacing", "saa{sv}", "shell", apps)
            taken += 1
        except Refused as error:
            refused, why = refused + 1, error.message
        except (OSError, AssertionError):
            why = "the connection was ended"
            break
    return [taken, refused, why]


@row("placing-lists", "a list of placements is as long as a client may place apps, with each app once",
     "AttachPlacing of 1,100 entries, of one app 1,000 times, and of 1,000 apps, without end, for 3 s each")
def placing_lists(short):
    with broker() as daemon:
        idle = neighbour(daemon, 1).result()
        for what, entries, distinct, most in (("1,100 entries", 1100, 1100, 0), ("one app again and again", 1000, 1, 0),
                                              ("1,000 apps", 1000, 1000, None)):
            with Child(ATTACKER, place_lists, daemon.address, 3, entries, distinct) as child:
                calls = neighbour(daemon, 2.5).result()
                taken, refused, why = child.result()
            yield Figure(f"lists of {what} taken", taken, most=most)
            yield f"refused: {refused}{', ' + why if why else ''}"
            yield latency(calls)
        yield latency(idle, idle=True)
        yield peak(daemon)


def ask_early(address, count):
    """Long questions about cameras before the cameras are known; what became of them."""
    app = App(address)
    # More answers than that, unread, and the broker would take it for one that does not read.
    configuration = {f"key{number}": ("s", "x" * 1000) for number in range(100)}
    message = new_method_call(BROKER, "CreateSession", "sa{sv}", ("", configuration))
    for _ in range(count):
        app.connection.send(message, serial=next(app.connection.outgoing_serial))
    return answers(app, count)


@row("early-questions", "at most 64 questions of a user wait for the cameras, and their bytes are bounded with them",
     "600 calls of 100 kB while a recorder core does not answer")
def early_questions(short):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="camarb-torture."))
        mute = stack.enter_context(socket.socket(socket.AF_UNIX))
        mute.bind(f"{folder}/recorder")
        mute.listen(8)
        daemon = stack.enter_context(broker(extra=("--recorder", f"unix:{folder}/recorder")))
        with Child(ATTACKER, ask_early, daemon.address, 600) as child:
            calls = neighbour(daemon, 3).result()
            answered, refused = child.result(patience=60)
        limited = refused.get("org.camarb.Error.LimitExceeded", 0)
        yield Figure("questions that were refused as too many", limited, least=500)
        yield Figure("of those that waited, answered or refused when the cameras were known", 600 - limited, most=64)
        yield from beside(daemon, calls)
