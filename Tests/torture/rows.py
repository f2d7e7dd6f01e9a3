"""What the rows of the torture share: their register, figures with bounds, attackers of other users, and a neighbour.

A row attacks a camarbd of its own and measures what somebody else notices of it. Every load is bounded in count and time.
"""
import collections.abc, contextlib, dataclasses, itertools, json, os, select, signal, socket, time, traceback

from harness import BROKER, App, Daemon, die_with_parent

registered = []
# The user that attacks, and the one that must not notice. Neither needs an entry in the user database.
ATTACKER, NEIGHBOUR = 65534, 1001
# Eight of the subordinate ids that one person has, each a user of its own to the broker.
IDS = range(100_000, 100_008)
# The user that looks on with a few clients, and calls nothing until it is over.
BYSTANDER, BYSTANDERS = 1010, 4
# What no row may move, whatever it does: the 99th of a hundred calls of somebody else's, on a machine that does nothing
# else, and the memory of camarbd, of which the unit's `MemoryMax` is a multiple.
CALL_P99_MS, MEMORY_MIB = 20, 64


@dataclasses.dataclass
class Row:
    name: str
    promise: str
    load: str
    counts: tuple
    function: collections.abc.Callable

    def run(self, short):
        """Its figures, and the verdict."""
        figures = list(self.function(*self.counts[0 if short else 1:][:1]))
        missed = [figure for figure in figures if isinstance(figure, Figure) and not figure.met]
        # The short form is part of `make test`, on machines that do other things besides: a time is printed there, and fails
        # nothing. Nor does one anywhere that the machine itself would not have kept.
        if any(not (figure.is_time and (short or figure.is_noise)) for figure in missed):
            return figures, "NOT MET"
        return figures, "slow" if missed else "met"


def row(name, promise, load, *counts):
    """Registers a row. Its function takes one of two counts, that of the short form or the other, where there are any, and yields
    what it measured: figures, or plain sentences."""
    def register(function):
        registered.append(Row(name, promise, load, counts, function))
        return function
    return register


def attack(name, promise, load, *counts, needs=lambda: None, **options):
    """The same of a function that takes a camarbd of its own before, which has these options; `needs` leaves it out, aloud, where
    it cannot be had."""
    def register(function):
        @row(name, promise, load, *counts)
        def begun(*count):
            needs()
            with Daemon(**options) as daemon:
                yield from function(daemon, *count)
    return register


@dataclasses.dataclass
class Figure:
    """A measured number, and the greatest or least it may be; None: it is only printed. `control` is the same without
    camarb, at the same time."""

    what: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None
    control: float | None = None

    @property
    def is_noise(self):
        """Whether it says more of the machine than of camarb: half of what it may be is gone without it."""
        return None not in (self.control, self.most) and self.control > self.most / 2

    @property
    def is_time(self):
        return self.unit in ("s", "ms", "µs")

    @property
    def met(self):
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def __str__(self):
        def written(number):
            return f"{number:,.1f}" if isinstance(number, float) else f"{number:,}"

        bounds = "".join(f", {word} {written(bound)}" for word, bound in (("at most", self.most), ("at least", self.least))
                         if bound is not None)
        control = "" if self.control is None else f" (without camarb, at the same time: {self.control:.1f})"
        missed = "" if self.met else "  ← noise of the machine" if self.is_noise else "  ← not met"
        return f"{self.what}: {written(self.value)} {self.unit}".rstrip() + control + bounds + missed


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def until(seconds):
    """Counts, from 0, until so much time is over."""
    end = time.monotonic() + seconds
    return itertools.takewhile(lambda _: time.monotonic() < end, itertools.count())


def since(begun):
    return (time.monotonic() - begun) * 1000


def timed(function):
    """What it returns, and how long that took, in milliseconds."""
    begun = time.monotonic()
    return function(), since(begun)


def frames_of(stream):
    """Each until the stream's end; it is given back when the next one is asked for."""
    while (frame := stream.read()) is not None:
        yield frame
        stream.release(frame)


def frames_in(seconds, stream):
    return sum(1 for _ in zip(until(seconds), frames_of(stream)))


class Child:
    """A function in a process of its own, as another user. What it returns is had from `result()`."""

    def __init__(self, user, function, *arguments):
        self.reading, writing = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.reading)
                if user:
                    os.setgroups([])
                    os.setresgid(user, user, user)
                    os.setresuid(user, user, user)
                # After the change of user, which would clear it; the parent may have ended already.
                die_with_parent()
                if os.getppid() != parent:
                    os._exit(0)
                with open(writing, "w") as result:
                    json.dump(function(*arguments), result)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)
        self.process = os.pidfd_open(self.pid)
        self.status = None

    def is_over(self):
        return bool(select.select([self.process], [], [], 0)[0])

    def result(self, patience=120.0):
        end, data = time.monotonic() + patience, b""
        while select.select([self.reading], [], [], max(0, end - time.monotonic()))[0]:
            if part := os.read(self.reading, 1 << 20):
                data += part
                continue
            self.wait()
            assert self.status == 0, "a child ended without a result"
            return json.loads(data)
        self.end()
        raise AssertionError(f"a child did not end within {patience:.0f} s")

    def wait(self):
        if self.status is None:
            self.status = os.waitpid(self.pid, 0)[1]
            os.close(self.reading)
            os.close(self.process)

    def end(self):
        if self.status is None:
            signal.pidfd_send_signal(self.process, signal.SIGKILL)
            self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def echo(far):
    while part := far.recv(64):
        far.send(part)


def knocks(address, seconds):
    """Calls of a well-behaved client, one after the other, and as many echoes of a process that does nothing else, which the
    machine makes it wait for as it makes the broker: how long each took, in milliseconds."""
    taken, echoes = [], []
    near, far = socket.socketpair()
    with near, far, Child(0, echo, far):
        app = App(address)
        for _ in until(seconds):
            taken.append(timed(lambda: app.call(BROKER, "Watch", "b", False, patience=60.0))[1])
            echoes.append(timed(lambda: (near.send(b"echo"), near.recv(64)))[1])
            time.sleep(0.005)
        app.close()
    return [taken, echoes]


def neighbour(daemon, seconds, user=NEIGHBOUR):
    """A client of another user, in a process of its own, while something else happens: `result()` has the times of its calls, and of
    echoes without camarb."""
    return Child(user, knocks, daemon.address, seconds)


def meanwhile(daemon, seconds, *attacks):
    """A neighbour's calls for so long, and what each attack returned beside them: a user, a function and its arguments."""
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(Child(*attack)) for attack in attacks]
        calls = neighbour(daemon, seconds).result(patience=seconds + 60)
        return calls, *(child.result() for child in children)


class Bystanders:
    """Clients of another user that were there before, each with a session, and which no row may disconnect."""

    def __init__(self, daemon):
        self.apps = [daemon.app(f"bystander{number}", BYSTANDER) for number in range(BYSTANDERS)]
        for app in self.apps:
            app.session()

    def disconnected(self):
        """The figure, at the end of the row: a client that still is answered was never disconnected."""
        lost = 0
        for app in self.apps:
            try:
                app.call(BROKER, "Watch", "b", False)
            except (OSError, EOFError, AssertionError):
                lost += 1
            app.close()
        return Figure("clients of others that were disconnected", lost, f"of {len(self.apps)}", most=0)


def memory_of(process, field):
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def memory(daemon, field="VmRSS"):
    return memory_of(daemon.process.pid, field) / 1024


def peak(daemon):
    return Figure("camarbd's memory at its peak", memory(daemon, "VmHWM"), "MiB", most=MEMORY_MIB)


def growth(daemon, before, most):
    return Figure("camarbd's memory at its peak, above what it was", memory(daemon, "VmHWM") - before, "MiB", most=most)


def latency(calls, what="it"):
    taken, echoes = calls
    return Figure(f"p99 of a neighbour's call beside {what}", percentile(taken, 0.99), "ms", most=CALL_P99_MS,
                  control=percentile(echoes, 0.99))


def beside(daemon, calls):
    """The figures of what nobody else may notice of a row, at its end: a neighbour's calls, and camarbd's memory."""
    yield latency(calls)
    yield peak(daemon)


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def marks(daemon):
    """A folder in which everybody may say by a file how far it is."""
    folder = daemon.directory / "marks"
    folder.mkdir()
    folder.chmod(0o777)
    return folder
