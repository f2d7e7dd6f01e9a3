"""Using up what there is of something that everybody needs: sessions, names, questions, lists."""
import contextlib, time

from jeepney import new_method_call

from harness import BROKER, SHELL, App, Daemon, Folder, Refused, listening
from rows import ATTACKER, IDS, Child, Figure, attack, beside, growth, latency, meanwhile, memory, neighbour, peak, row, until
from wire import answers


def take_sessions(address, connections, each, seconds):
    """Opens sessions until it is refused, and keeps them for so long: how many it got, and the last refusal."""
    apps, got, why = [], 0, ""
    for _ in range(connections):
        try:
            apps.append(App(address))
            for _ in range(each):
                apps[-1].session()
                got += 1
        except (Refused, OSError) as error:
            why = str(error)
    time.sleep(seconds)
    return [got, why]


@attack("sessions", "a user may have 256 sessions, all users together a part of the memory, and what is released is given back",
        "64 connections with 64 sessions each, of one user and of eight subordinate ids")
def many_sessions(daemon):
    with contextlib.ExitStack() as stack:
        got, why = Child(ATTACKER, take_sessions, daemon.address, 10, 64, 0.0).result()
        yield Figure("sessions of one user", got, most=256, least=256)
        yield f"and then: {why}"
        children = [stack.enter_context(Child(user, take_sessions, daemon.address, 10, 64, 6.0)) for user in IDS]
        time.sleep(3)
        calls = neighbour(daemon, 2).result()
        yield Figure("sessions of eight ids", sum(child.result()[0] for child in children), most=8 * 256)
    yield from beside(daemon, calls)


def take_names(address, connections):
    """One client speaks in each role for a user: as shell, as agent, and others are refused or displace them."""
    apps, placed, why = [], 0, ""
    for number in range(connections):
        try:
            apps.append(App(address))
            apps[-1].call(SHELL, "Attach", "s", ("shell", "agent")[number % 2])
            for place in range(1024):
                apps[-1].call(SHELL, "PlaceApp", "ssb", f"{number}-{place}-".ljust(120, "x"), "split", False)
                placed += 1
        except Refused as refused:
            why = refused.message
        except OSError:
            break
    return [placed, why]


@attack("placed-names", "the names that a user places are bounded, over all its connections",
        "connections of one user that place 1,024 names of 120 bytes each", 4, 16)
def placed_names(daemon, connections):
    daemon.app().call(BROKER, "GetStatus")
    before = memory(daemon)
    placed, why = Child(ATTACKER, take_names, daemon.address, connections).result()
    yield Figure("names placed", placed, most=2048, least=1024)
    yield f"and then: {why}"
    yield growth(daemon, before, 16)


def place_lists(address, seconds, entries, distinct):
    """Long lists of placements without end: how many were taken, and the last refusal."""
    app = App(address, "zoom")
    for _ in range(64):
        app.session()
    apps = [{"app": ("s", f"app{number % distinct}"), "presence": ("s", "split"), "focused": ("b", False)} for number in range(entries)]
    taken, why = 0, ""
    for _ in until(seconds):
        try:
            app.call(SHELL, "AttachPlacing", "saa{sv}", "shell", apps)
            taken += 1
        except Refused as error:
            why = error.message
        except (OSError, AssertionError):
            why = "the connection was ended"
            break
    return [taken, why]


@attack("placing-lists", "a list of placements is as long as a client may place apps, with each app once",
        "AttachPlacing of 1,100 entries, of one app 1,000 times, and of 1,000 apps, without end, for 3 s each")
def placing_lists(daemon):
    for what, entries, distinct, most in (("1,100 entries", 1100, 1100, 0), ("one app again and again", 1000, 1, 0),
                                          ("1,000 apps", 1000, 1000, None)):
        calls, (taken, why) = meanwhile(daemon, 2.5, (ATTACKER, place_lists, daemon.address, 3, entries, distinct))
        yield Figure(f"lists of {what} taken", taken, most=most)
        yield f"and others: {why or 'none'}"
        yield latency(calls)
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
def early_questions():
    with (Folder() as folder, listening(folder / "recorder", 8), Daemon(extra=("--recorder", f"unix:{folder}/recorder")) as daemon):
        calls, (_, refused) = meanwhile(daemon, 3, (ATTACKER, ask_early, daemon.address, 600))
        limited = refused.get("org.camarb.Error.LimitExceeded", 0)
        yield Figure("questions that were refused as too many", limited, least=500)
        yield Figure("of those that waited, answered or refused when the cameras were known", 600 - limited, most=64)
        yield from beside(daemon, calls)
