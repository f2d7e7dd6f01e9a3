"""camclient at a terminal of somebody's own: what is typed into its shell, and the status that follows the broker."""
import contextlib, fcntl, json, os, pty, re, select, signal, struct, subprocess, termios, time

from camclient import PROGRAM, Running, camclient, status
from harness import CAMERA, PATIENCE, SHELL, Daemon, Folder, claim, die_with_parent, spawn, wait_until

POLICY = """name = "typed"
ranks = ["any"]
[[mode]]
name = "cleaning"
[[mode]]
name = "visiting"
[[attribute]]
name = "duty"
values = ["on-call", "off"]
[[rank]]
name = "The door"
app = "intercom.service"
rank = "any"
"""
PROMPT = "> "
REDRAWN = "\x1b[H"
UP, TAB, CTRL_C, CTRL_D = "\x1b[A", "\t", "\x03", "\x04"
# As many lines as the shell keeps, as its source says.
HISTORY_MAX = 500


def screen(said):
    """The rows that a terminal shows which was told this, and the row of its cursor."""
    rows, row, column = [[]], 0, 0
    for number, order, letter in re.findall(r"\x1b\[([0-9;?]*)([A-Za-z@])|(.)", said, re.DOTALL):
        count = int(number) if number.isdecimal() else 1
        if letter == "\n":
            row += 1
        elif letter == "\r":
            column = 0
        elif letter == "\b":
            column -= 1
        elif letter >= " ":
            rows[row][column:column + 1] = [letter]
            column += 1
        elif order == "G":
            column = count - 1
        elif order in ("C", "D"):
            column += count if order == "C" else -count
        elif order == "A":
            row -= count
        elif order == "H":
            row = column = 0
        elif order == "P":
            del rows[row][column:column + count]
        elif order == "@":
            rows[row][column:column] = " " * count
        elif order in ("K", "J"):
            del rows[row][column:]
            if order == "J":
                del rows[row + 1:]
        rows += [[] for _ in range(row + 1 - len(rows))]
        rows[row] += " " * (column - len(rows[row]))
    return ["".join(letters) for letters in rows], row


class Terminal:
    """A program on a terminal of its own, whose keys and words pass through here."""

    def __init__(self, *words, columns=100, rows=40, **environment):
        self.keeper, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(terminal)

        def begin():
            die_with_parent()
            # Ctrl-C is a signal for whoever has the terminal.
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = spawn(*words, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, preexec_fn=begin,
                             env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        self.terminal, self.said, self.row = terminal, "", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.keeper)
        os.close(self.terminal)

    def look(self, patience):
        if select.select([self.keeper], [], [], patience)[0]:
            self.said += os.read(self.keeper, 65536).decode(errors="replace")

    def until(self, words, whole=False):
        """What is shown from the row on in which the cursor was at the last such look, once it has these words, or is these words."""
        end = time.monotonic() + PATIENCE
        while True:
            rows, row = screen(self.said)
            # A screen that is drawn anew has no row to begin with.
            shown = "\n".join(rows if REDRAWN in self.said else rows[self.row:])
            if words == rows[row] if whole else words in shown:
                self.row = row
                return shown
            assert time.monotonic() < end and self.process.poll() is None, f"no “{words}” in:\n{shown}\n{self.said[-300:]!r}"
            self.look(0.2)

    def prompted(self):
        return self.until(PROMPT, whole=True)

    def type(self, keys, words):
        os.write(self.keeper, keys.encode())
        return self.until(words)

    def abandon(self):
        """Ctrl-C, and the next prompt."""
        self.type(CTRL_C, "^C")
        self.prompted()

    def ends(self, with_status=0):
        wait_until("the program to end", lambda: self.look(0.01) or self.process.poll() is not None)
        assert self.process.returncode == with_status, (self.process.returncode, self.said[-2000:])
        while select.select([self.keeper], [], [], 0)[0]:
            self.look(0)
        assert termios.tcgetattr(self.terminal) == self.before, "the terminal is not as it was"


@contextlib.contextmanager
def shell(daemon, state, **options):
    with Terminal(PROGRAM, "shell", "--address", daemon.address, XDG_STATE_HOME=str(state), **options) as typed:
        typed.prompted()
        yield typed


@claim("camclient shell on a terminal has a prompt, help, completion by what the broker knows and a history that the next session has, "
       "answers a slip with what was probably meant, and gives the terminal back")
def typed_shell():
    with Daemon(POLICY) as daemon, Folder() as state:
        daemon.running("photos")
        with shell(daemon, state) as typed:
            typed.type(f"pri{TAB}", "privacy ")
            typed.type(f"o{TAB}", "off  on")
            typed.type(f"n f{TAB}", "privacy on front ")
            typed.type("\n", "done")
            assert "the privacy switch is on" in camclient(daemon, "status").stdout
            shown = typed.type(f"override {TAB}", "photos")
            assert "intercom.service" in shown and "none" in shown, shown
            typed.type(f"ph{TAB}", "override photos ")
            typed.abandon()
            assert status(daemon)["override"] is None
            for begun, whole in (("mode cl", "mode cleaning "), ("unplug fr", "unplug front "), ("attribute photos du", "attribute photos duty "),
                                 ("attribute photos duty on", "duty on-call "), ("pressure ser", "pressure serious "),
                                 ("place photos ful", "fullscreen "), ("place photos fullscreen fo", "focused "), ("help log", "login-session ")):
                typed.type(f"{begun}{TAB}", whole)
                typed.abandon()
            assert "did you mean “place”?" in typed.type("plase photos fullscreen\n", "There are")
            typed.type("help privacy\n", "the privacy switch of a camera, or of the")
            shown = typed.type("help\n", "plug CAMERA")
            assert "override APP|none" in shown and "place APP LAYOUT" in shown, shown
            typed.type(UP, "help")
            typed.type(UP, "help privacy")
            typed.abandon()
            typed.type(CTRL_D, "")
            typed.ends()
        kept = state / "camarb" / "shell-history"
        assert kept.stat().st_mode & 0o777 == 0o600 and "privacy" in kept.read_text(), kept.read_text()
        with shell(daemon, state) as typed:
            typed.type(UP, "help")
            typed.type(UP, "help privacy")
            typed.type("\n", "the privacy switch of a camera, or of the")
            typed.type("exit\n", "")
            typed.ends()
        # Of a file that has grown beyond the bound the latest lines are kept.
        kept.write_text("_HiStOrY_V2_\n" + "".join(f"help\\040{number}\n" for number in range(2 * HISTORY_MAX)))
        with shell(daemon, state) as typed:
            typed.type("sensitive photos\n", "done")
            typed.process.terminate()
            typed.ends(130)
        lines = kept.read_text().splitlines()[1:]
        assert len(lines) == HISTORY_MAX and lines[-1] == "sensitive\\040photos" and lines[0] == f"help\\040{HISTORY_MAX + 1}", lines[:3]


@claim("camclient shell has no prompt, no editing and no history where nobody types, as scripts need it")
def piped_shell():
    with Daemon(POLICY) as daemon, Folder() as state:
        said = camclient(daemon, "shell", typed="privacy on\nmode cleaning\n",
                         env={**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm"})
        assert (said.stdout, said.stderr) == ("", "") and not os.listdir(state), said
        assert status(daemon)["privacy"] is True and status(daemon)["mode"] == "cleaning"
        said = camclient(daemon, "shell", typed="privacy off\nplase a fullscreen\n", status=2).stderr
        assert "did you mean “place”?" in said and status(daemon)["privacy"] is False


@claim("status --watch shows each change in its place on a terminal, at most five times a second, waits for a broker that is restarted and "
       "says so, and gives the terminal back at Ctrl-C")
def watched_status():
    with Daemon() as daemon:
        with Terminal(PROGRAM, "status", "--watch", "--address", daemon.address, columns=60, rows=40) as watch:
            watch.until(f"{CAMERA}  free")
            assert watch.said.startswith("\x1b[?1049h\x1b[?25l"), watch.said[:40]
            app, session = daemon.running("photos")
            watch.until("held by photos")
            # Keys that are pressed do not stand between the lines; lines that are too long are broken.
            os.write(watch.keeper, b"kkk")
            shell, begun, drawn = daemon.shell(), time.monotonic(), watch.said.count(REDRAWN)
            for number in range(200):
                shell.call(SHELL, "SetPrivacy", "sb", "", number % 2 == 0)
                watch.look(0)
            watch.until("held by photos")
            drawn, passed = watch.said.count(REDRAWN) - drawn, time.monotonic() - begun
            assert drawn <= 5 * passed + 2, (drawn, passed)
            rows, _ = screen(watch.said)
            assert all(len(row) <= 60 for row in rows) and "kkk" not in "".join(rows) and "    can pass for any app." in rows, rows
            daemon.close_apps()
            daemon.process.kill()
            watch.until("The broker closed the connection, or ended. Waiting for a")
            daemon.restart()
            watch.until(f"{CAMERA}  free")
            os.write(watch.keeper, CTRL_C.encode())
            watch.ends()
            assert watch.said.endswith("\x1b[?25h\x1b[?1049l"), watch.said[-40:]
        with Terminal(PROGRAM, "status", "--watch", "--address", daemon.address, rows=5) as watch:
            watch.until("… and ")
            watch.process.terminate()
            watch.ends()
            rows = screen(watch.said)[0]
            assert len(rows) == 5 and re.fullmatch(r"… and \d+ more lines", rows[-1]), rows
        camclient(None, "status", "--watch", "--address", daemon.directory / "none", status=3)


@claim("status --watch writes a block for each change to a pipe, with --json a line, and nothing where nothing changes")
def followed_status():
    with Daemon() as daemon:
        with Running(daemon, "status", "--watch", "--json") as watch:
            assert watch.wait(privacy=False)["cameras"][0]["camera"] == CAMERA
            camclient(daemon, "shell", "privacy on")
            watch.wait(privacy=True)
            daemon.process.kill()
            assert "connection" in watch.wait(reachable=False)["message"]
            daemon.restart()
            said = watch.wait(privacy=False)
            assert said["cameras"] is not None and "reachable" not in said
            out, error = watch.end(how=signal.SIGINT)
            assert not error, error
        lines = [json.loads(line) for line in watch.lines]
        changes = [{key: value for key, value in line.items() if key != "moment"} for line in lines]
        assert all(one != other for one, other in zip(changes, changes[1:])), changes
        with Running(daemon, "status", "--watch") as watch:
            heard = ""
            while "sessions" not in heard:
                heard += watch.process.stdout.readline()
            camclient(daemon, "shell", "privacy on")
            while "the privacy switch of the machine is on" not in heard:
                heard += watch.process.stdout.readline()
            out, error = watch.end(how=signal.SIGINT)
            blocks = (heard + out).split("\n\ncamarbd ")
            assert len(blocks) > 1 and not error and "\x1b" not in heard + out, (blocks, error)
