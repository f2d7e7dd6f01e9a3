"""Very many notices to very many clients: each is there, once, and in its place."""
import contextlib, itertools, mmap, select, struct

from jeepney import DBusAddress

from harness import BROKER, CAMERA, PATIENCE, SHELL, Daemon, wait_until
from rows import IDS, Child, Figure, beside, memory, neighbour, row
from wire import call, connect

# 64 clients in all, of eight users, and eight sessions of each: one fact about the machine is news to 512 sessions.
CLIENTS_A_USER, SESSIONS_A_CLIENT = 8, 8
SESSIONS = len(IDS) * CLIENTS_A_USER * SESSIONS_A_CLIENT
# The slowest reader may be behind by so many notices, more than two facts cause: a client's share of it is far from the
# 1,024 messages that the broker keeps for one that does not read.
BEHIND_MAX = 4 * SESSIONS
# How much more memory camarbd may have at the end than after the first tenth, in MiB: what its history keeps of decisions is
# bounded by their number, and those about all sessions are larger.
GROWTH_MIB = 4
SLOT = struct.Struct("<Q")


class Listener:
    """A client's connection, read without a library: a million messages are too many for one in Python."""

    def __init__(self, path):
        self.peer = connect(path)
        self.rest = bytearray()
        self.serial = self.notices = self.answers = self.decided = 0
        self.sequences, self.wrong = {}, []
        self.answer = b""

    def fileno(self):
        return self.peer.fileno()

    def call(self, member, signature=None, *body, at=BROKER):
        """Its answer's body. Whatever was sent before the answer is read, too."""
        self.serial += 1
        awaited = self.answers + 1
        self.peer.sendall(call(member, signature, *body, at=at, serial=self.serial))
        while self.answers < awaited:
            self.read()
        return self.answer

    def sessions(self, count):
        for _ in range(count):
            answer = self.call("CreateSession", "sa{sv}", CAMERA, {})
            path = answer[4:4 + struct.unpack_from("<I", answer)[0]]
            self.sequences[path] = 0
            self.call("StartRunning", at=DBusAddress(path.decode(), "org.camarb", "org.camarb.Session1"))

    def read(self):
        part = self.peer.recv(1 << 18)
        if not part:
            raise EOFError("the broker ended the connection of one that reads")
        self.rest += part
        at = 0
        while len(self.rest) - at >= 16:
            kind, length, fields = struct.unpack_from("<xB2xI4xI", self.rest, at)
            body = at + 16 + (fields + 7) // 8 * 8
            if len(self.rest) < body + length:
                break
            said, header, at = bytes(self.rest[body:body + length]), bytes(self.rest[at + 16:at + 16 + fields]), body + length
            if kind == 4:
                self.signal(header, said)
            else:
                assert kind == 2, f"a call was refused: {said}"
                self.answer = said
                self.answers += 1
        del self.rest[:at]

    def signal(self, fields, body):
        path, member = text(fields, b"\1\1o\0"), text(fields, b"\3\1s\0")
        if member == b"Decided":
            self.decided += body.count(NOTICE)
        if path not in self.sequences:
            return
        (sequence,) = struct.unpack_from("<Q", body)
        if sequence != self.sequences[path] + 1:
            self.wrong.append(f"{path.decode()}: {sequence} came after {self.sequences[path]}")
        self.sequences[path] = sequence
        self.notices += 1


# How a line about a notice begins in the text of a decision.
NOTICE = b"\n       "


def text(fields, head):
    """The string of a header field: its code and signature are `head`, its length and bytes follow."""
    at = fields.index(head) + 4
    return fields[at + 4:at + 4 + struct.unpack_from("<I", fields, at)[0]]


def listen(path, shared, slot):
    """Clients of one user that read whatever comes, until they are told that it is over: what they heard, and what was
    wrong in it. `shared` has in its first place whether it is over, and in `slot` how many notices came so far."""
    listeners = [Listener(path) for _ in range(CLIENTS_A_USER)]
    poll = select.poll()
    by_number = {one.fileno(): one for one in listeners}
    for number, one in enumerate(listeners):
        one.call("DeclareClient", "a{sv}", {"app": ("s", f"app{number}")})
        one.sessions(SESSIONS_A_CLIENT)
        poll.register(one, select.POLLIN)
    while not SLOT.unpack_from(shared, 0)[0]:
        for number, _ in poll.poll(50):
            by_number[number].read()
        # One more than came: it is there.
        SLOT.pack_into(shared, slot * SLOT.size, 1 + sum(one.notices for one in listeners))
    for one in listeners:
        one.call("Watch", "b", False)
    return {"notices": [one.notices for one in listeners], "wrong": [why for one in listeners for why in one.wrong]}


def facts():
    """What is news to everybody, and now and then another choice of the camera's holder, without end."""
    for number in itertools.count():
        for on in (True, False):
            yield from (("SetPrivacy", "sb", "", on), ("SetSleep", "b", on))
        app = f"app{number % CLIENTS_A_USER}@{IDS[number // CLIENTS_A_USER % len(IDS)]}"
        yield ("Override", "s", app) if number % 2 else ("PlaceApp", "ssb", app, "fullscreen", True)


@row("million-notices", "every client hears each notice once and in its place, and the broker keeps none of them",
     f"a million notices (20,000) to 64 clients with {SESSIONS} sessions, of privacy, sleep, the operator's choice and focus, "
     "beside reloads", (20_000, 2), (1_000_000, 30))
def million_notices(load):
    count, seconds = load
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    slots = range(1, 1 + len(IDS))
    with Daemon(users=IDS, decides_aloud=False) as daemon, contextlib.ExitStack() as stack:
        machine = Listener(daemon.path)
        machine.call("Watch", "b", True)
        machine.call("Attach", "s", "shell", at=SHELL)
        children = [stack.enter_context(Child(user, listen, daemon.path, shared, slot)) for user, slot in zip(IDS, slots)]

        def heard():
            return sum(SLOT.unpack_from(shared, slot * SLOT.size)[0] - 1 for slot in slots)

        def catch_up(what, condition):
            """Reads on until it is so. Decisions come without a call, too: when the camera answers."""
            def caught_up():
                while not (found := condition()) and select.select([machine], [], [], 0.001)[0]:
                    machine.read()
                return found

            wait_until(what, caught_up, 3 * PATIENCE)

        catch_up("all sessions", lambda: all(SLOT.unpack_from(shared, slot * SLOT.size)[0] for slot in slots))
        calls = neighbour(daemon, seconds)
        said, warm = 0, None
        for fact in facts():
            machine.call(*fact, at=SHELL)
            said += 1
            if said % 100 == 0:
                daemon.reload()
            catch_up("those that read", lambda: machine.decided - heard() <= BEHIND_MAX)
            if warm is None and machine.decided > count / 10:
                warm = memory(daemon)
            if machine.decided >= count:
                break
        catch_up("the last of them to be heard", lambda: machine.decided == heard())
        after = memory(daemon)
        SLOT.pack_into(shared, 0, 1)
        results = [child.result() for child in children]
        notices, wrong = ([each for result in results for each in result[what]] for what in ("notices", "wrong"))
        yield Figure("notices that were decided", machine.decided, least=count)
        yield Figure("notices that were heard", sum(notices), least=machine.decided, most=machine.decided)
        yield Figure("of one client, the fewest", min(notices), least=1)
        yield Figure("gaps, repetitions and those out of place", len(wrong), most=0)
        yield from wrong[:3]
        yield Figure("camarbd's memory at the end, beyond that after a tenth", after - warm, "MiB", most=GROWTH_MIB)
        yield from beside(daemon, calls.result())
