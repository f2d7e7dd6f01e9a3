"""A program of the user's own that passes for the user's shell, or for the user."""
import os, time

import ask, groups
from harness import BROKER, ROOT, SHELL, App, Daemon, Refused, wait_until
from rows import Child, Figure, beside, marks, neighbour, row, timed

USER = 1002
MANAGER = f"/user.slice/user-{USER}.slice/user@{USER}.service"
SHELL_UNIT = f"{MANAGER}/session.slice/torture-shell.service"
APP_UNIT = f"{MANAGER}/app.slice/app-torture-12.scope"


def refusal(app, *call):
    try:
        app.call(SHELL, *call)
        return ""
    except Refused as refused:
        return str(refused)


def squats(address, marks, group):
    """Is the shell first, or tries to be, and goes on trying: what it was answered."""
    if group:
        groups.wait_for(group)
    app = App(address)
    attach, place = ("Attach", "s", "shell"), ("PlaceApp", "ssb", "zoom", "background", False)
    first = refusal(app, *attach)
    refusal(app, *place)
    (marks / f"squats-{os.getpid()}").touch()
    wait_until("the shell to speak", (marks / "speaks").exists, patience=60)
    later = [refusal(app, *call) for call in (attach, place, ("RaiseSensitiveContent", "s", "zoom"), ("TakeMicrophone", "s", "mal"))]
    app.poll(0.2)
    return [first, later, app.heard("Displaced")]


def speaks(address, marks):
    """The real one: how long it took to be the shell, in milliseconds, and who is then, by status."""
    groups.wait_for(SHELL_UNIT)
    app = App(address)
    said, taken = timed(lambda: refusal(app, "Attach", "s", "shell"))
    said += refusal(app, "PlaceApp", "ssb", "zoom", "fullscreen", True)
    (marks / "speaks").touch()
    wait_until("it to be over", (marks / "over").exists, patience=60)
    return [said, taken, [[one["role"][1], one["unit"][1], one["process"][1]] for one in app.status()["speakers"]]]


def zooms(address, marks):
    app = App(address, "zoom")
    session = app.session()
    (marks / "zooms").touch()
    wait_until("the shell to speak", (marks / "speaks").exists, patience=60)
    places = set()
    while not (marks / "over").exists():
        (own,) = [one for one in app.call(BROKER, "GetStatus")[2] if session.path.endswith(f"/{one['session'][1]}")]
        places.add((own["presence"][1], own["focused"][1]))
        time.sleep(0.01)
    return sorted(places)


@row("second-shell", "one process is a user's shell: the first to come keeps the role from others, but never from the unit that the "
     "policy names", "two programs of the same user that are the shell first, or want to be, one of them in an app's unit")
def second_shell():
    policy = f'name = "one shell"\ninclude = ["{ROOT}/policies/desktop.toml"]\n[shell]\nunit = "torture-shell.service"\n'
    with groups.made(SHELL_UNIT, APP_UNIT), Daemon(policy) as daemon:
        folder = marks(daemon)

        def child(function, group=None, *arguments):
            begun = Child(USER, function, daemon.address, folder, *arguments)
            if group:
                groups.put(begun.pid, group)
            return begun

        with neighbour(daemon, 3) as calling, child(zooms) as app:
            wait_until("the app", (folder / "zooms").exists)
            with child(squats, None, None) as first:
                wait_until("the first", (folder / f"squats-{first.pid}").exists)
                with child(squats, None, None) as second, child(squats, APP_UNIT, APP_UNIT) as sandboxed:
                    for one in (second, sandboxed):
                        wait_until("another", (folder / f"squats-{one.pid}").exists)
                    with child(speaks, SHELL_UNIT) as shell:
                        answers = [one.result() for one in (first, second, sandboxed)]
                        (folder / "over").touch()
                        said, taken, speakers = shell.result()
            places = app.result()
            calls = calling.result()
        (was, _, told), (beat, _, _), (shut, _, _) = answers
        yield Figure("the first to come was the shell while nobody else was", int(was == ""), "of 1", least=1)
        yield Figure("a second one was told who is", int(f"Process {first.pid} " in beat), "of 1", least=1)
        yield Figure("one in an app's unit was refused", int("sandbox" in shut), "of 1", least=1)
        yield Figure("the real shell spoke after", taken, "ms", most=1000)
        yield f"it was answered: {said or 'nothing'}"
        is_shell = ["shell", "torture-shell.service", shell.pid] in speakers
        yield Figure("status has it as the shell", int(is_shell), "of 1", least=1)
        yield Figure("the first heard that it is the shell no more", sum(str(shell.pid) in body[1] for body in told), "of 1", least=1)
        later = [answer for one in answers for answer in one[1]]
        yield Figure("of what the others said after that, refused", sum(map(bool, later)), f"of {len(later)}", least=len(later))
        yield Figure("the app was where the shell put it and nowhere else", int(places == [["fullscreen", True]]), "of 1", least=1)
        yield from beside(daemon, calls)


def allows_itself(address, times):
    """Answers for itself, and takes it back: its process, its program, and how often it was let in."""
    app = App(address, "spy")
    session = app.session()
    for _ in range(times):
        app.call(SHELL, "SetAnswer", "sbs", "spy", True, "allow")
        session.runs().call("StopRunning")
        app.call(SHELL, "SetAnswer", "sbs", "spy", True, "")
    return [os.getpid(), os.readlink("/proc/self/exe"), times]


@row("answers-for-itself", "where the policy asks, a program of the user's that answers for itself is shown to whoever speaks for the "
     "user, each time, with its process and program, and to no other user",
     "a program that allows itself and takes it back, 300 times (10 in the short form)", 10, 300)
def answers_for_itself(times):
    with ask.broker() as daemon:
        agent, other = ask.asked(daemon, ask.ALICE), ask.asked(daemon, ask.BOB)
        with neighbour(daemon, 3) as calling, Child(ask.ALICE, allows_itself, daemon.address, times) as attack:
            while not attack.is_over():
                # Whoever does not read is disconnected in the end.
                agent.poll(0.05)
            process, program, ran = attack.result()
            calls = calling.result()
        for one in (agent, other):
            one.poll(0.5)
        told = agent.heard("AnswerChanged")
        named = [body for body in told if body[:2] == ("spy", True) and body[4:] == (process, program)]
        yield Figure("times it answered for itself and had the camera", ran, least=times)
        yield Figure("of its words, those that were told", len(told), f"of {2 * times}", least=2 * times)
        yield Figure("with its process and program", len(named), f"of {2 * times}", least=2 * times)
        yield Figure("told to another user", len(other.heard("AnswerChanged")), most=0)
        yield from beside(daemon, calls)
