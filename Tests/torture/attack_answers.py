"""Answers about apps, which outlive their users' clients: who may fill them, and what that costs everybody else."""
import collections, contextlib, time

from harness import BROKER, SHELL, App, Daemon, Folder, Refused, as_user
from rows import CALL_P99_MS, IDS, NEIGHBOUR, Child, Figure, latency, meanwhile, memory, neighbour, peak, row, until

# All ids of one person keep that person's groups; the policy of half of this row gives one of them a right.
GROUP = 4242
# As many as a user may give, with names as long as they may be but for a few bytes: a file of 164 kB.
ANSWERS = 1024
IN_ALL, FILES = 16384, 512
POLICY = 'name = "answers"\n[access]\nseat = false\nusers = [{users}]\n{groups}[contention]\ntie = "newcomer"\n'


@contextlib.contextmanager
def answering(*groups):
    """A camarbd that keeps answers in a folder of its own, which it is given; `groups` have a right beside two users."""
    policy = POLICY.format(users=f"{NEIGHBOUR}, {NEIGHBOUR + 1}", groups=f"groups = {list(groups)}\n" if groups else "")
    with Folder() as folder:
        kept = folder / "camarb" / "answers"
        kept.mkdir(parents=True)
        with Daemon(policy, decides_aloud=False, variables={"XDG_STATE_HOME": str(folder)}) as daemon:
            daemon.kept = kept
            yield daemon


def name(number):
    return f"{number:06}-".ljust(120, "x")


def place(daemon, users, answers=ANSWERS, word="allow"):
    text = "".join(f"{word} vouched user 2026-11-23T09:12:00Z {name(number)}\n" for number in range(answers))
    for user in users:
        (daemon.kept / str(user)).write_text(text)


def client(address, user, app=None):
    with as_user(user, (GROUP,)):
        return App(address, app)


def attempt(counts, app, *call):
    """Counts what comes of a call, by the error's name."""
    with contextlib.suppress(OSError, EOFError):
        try:
            app.call(*call, patience=60.0)
            counts["taken"] += 1
        except Refused as refused:
            counts[refused.error] += 1


def come(address, users, hold):
    apps, counts = [], collections.Counter()
    for user in users:
        with contextlib.suppress(Refused, OSError, EOFError, AssertionError):
            apps.append(client(address, user))
            apps[-1].call(BROKER, "GetStatus", patience=60.0)
            attempt(counts, apps[-1], apps[-1].session().at, "StartRunning")
    time.sleep(hold)
    counts["clients"] = len(apps)
    return counts


def say(address, users, seconds):
    """Each of these users says of its apps whatever it may, in turn and without end."""
    counts, apps = collections.Counter(), [client(address, user) for user in users]
    for app in apps:
        attempt(collections.Counter(), app, SHELL, "Attach", "s", "agent")
    for number in until(seconds):
        for app in apps:
            attempt(counts, app, SHELL, "SetAnswer", "sbs", name(number % (2 * ANSWERS)), True, ("allow", "deny")[number // 2 % 2])
            if number % 16 == 0:
                attempt(counts, app, SHELL, "SetDenied", "as", [name(place) for place in range(number % 7 * 100)])
                attempt(counts, app, SHELL, "SetOwnPrivacy", "b", number % 32 == 0)
    return counts


def forgets(address, users):
    for user in users:
        with contextlib.closing(client(address, user)) as app:
            attempt(collections.Counter(), app, SHELL, "SetAnswer", "sbs", "photos", True, "deny")


def start_denied(address, user):
    """What the start of an app is told that its user has denied, of a client that comes now."""
    counts, app = collections.Counter(), client(address, user, name(0))
    attempt(counts, app, app.session().at, "StartRunning")
    return counts


def neighbours(calls, what):
    """The bound is 20 ms, or five times what the same client waited for a process that does nothing else."""
    figure = latency(calls, what)
    figure.most = max(CALL_P99_MS, 5 * figure.control)
    return figure


def talk(daemon, ids, seconds):
    calls, counts = meanwhile(daemon, seconds - 1, (0, say, daemon.address, list(ids[:8]), seconds))
    return collections.Counter(counts), calls


def used(daemon):
    return next((one["used"][1] for one in daemon.app().status()["budgets"] if one["resource"][1] == "answers" and "user" not in one), 0)


@row("answers", "answers fill neither memory nor disk, nobody without a right keeps any, and nobody else waits",
     "8 and 400 subordinate ids (8 and 24) with files of 1,024 answers, and with what they say without end, without a right to a "
     "camera and with one", (24, 4), (400, 20))
def answers(load):
    crowd, seconds = load
    for right in (without_right, with_right):
        yield from right(range(IDS[0], IDS[0] + crowd), seconds)


def without_right(ids, seconds):
    with answering() as daemon:
        place(daemon, ids)
        place(daemon, [NEIGHBOUR + 1], 1, "deny")
        daemon.app().call(BROKER, "GetStatus")
        before = memory(daemon)
        with Child(0, come, daemon.address, list(ids), seconds) as child:
            calls = neighbour(daemon, seconds).result()
            denied = Child(0, start_denied, daemon.address, NEIGHBOUR + 1).result()
            counts = child.result(patience=seconds + 300)
        yield Figure("clients of ids without a right, with a file each", counts["clients"], least=min(len(ids), 200))
        yield Figure("starts of theirs that were taken", counts.get("taken", 0), most=0)
        yield Figure("denied app of a user with a right, refused meanwhile", denied.get("AccessDenied", 0), "of 1", least=1)
        yield neighbours(calls, "them")
        yield Figure("camarbd's memory beyond what it was", memory(daemon, "VmHWM") - before, "MiB", most=16)
        counts, calls = talk(daemon, ids, seconds)
        yield Figure("what eight ids said of their apps, refused", counts["AccessDenied"], least=100)
        yield Figure("taken", counts["taken"], most=0)
        yield neighbours(calls, "that")
        yield Figure("files, as many as before", len(list(daemon.kept.iterdir())) - len(ids) - 1, most=0)


def with_right(ids, seconds):
    with answering(GROUP) as daemon:
        counts, calls = talk(daemon, ids, seconds)
        yield Figure("answers that eight ids with a right changed", counts["taken"], least=50)
        yield neighbours(calls, "that")
        place(daemon, ids)
        with Child(0, come, daemon.address, list(ids), 3.0 + seconds) as child:
            calls = neighbour(daemon, seconds).result()
            in_memory = used(daemon)
            counts = child.result(patience=seconds + 600)
        yield Figure("answers of all users in memory", in_memory, least=8 * ANSWERS // 2, most=IN_ALL)
        yield Figure("starts refused, since their answers find no room", counts.get("LimitExceeded", 0), least=len(ids) - 20)
        yield neighbours(calls, f"{len(ids)} of them, each with 1,024 answers")
        yield peak(daemon)
        yield Figure("answers in memory when they have left", used(daemon), most=0)
        Child(0, forgets, daemon.address, [10 ** 6 + number for number in range(len(ids) + 200)]).result(patience=600)
        files = list(daemon.kept.iterdir())
        yield Figure("users with a file, in the end", len(files), most=FILES)
        yield Figure("what they take of the disk", sum(file.stat().st_size for file in files) / 2 ** 20, "MiB", most=92)
