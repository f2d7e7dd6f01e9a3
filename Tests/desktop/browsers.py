"""Browsers that know no broker, through the desktop portal and PipeWire: what a page sees, pixel by pixel."""
import collections, contextlib, http.server, os, pathlib, signal, tempfile, threading, urllib.parse

from browser import PATIENCE
from harness import Daemon, Skipped, claim, end, ran, read_mark, spawn, wait_until
from pipewire_door import SIDE, SWAPS, Focus, Video, Viewer, agent, crash, doorway, kind, packaged, sessions
from screen import Screen, needs

PAGE = pathlib.Path(__file__).with_name("page.html")
PICTURE = SIDE * SIDE * 4  # bytes of what a page sees
MARK = 128, 16  # the size of the part with a mark that the far side of a call says with it
PERMISSIONS = "org.freedesktop.impl.portal.PermissionStore"


class Portal(Video):
    """A session with the desktop portal, its permission store that lets everybody see cameras, and a screen for it; WirePlumber has our
    script as the package installs it."""

    screen_options = {"manager": False}

    def begin(self):
        needs("Xvfb", "gdbus", "chromium", "firefox-esr")
        self.programs = pathlib.Path("/usr/libexec")
        if not (self.programs / "xdg-desktop-portal").exists():
            raise Skipped("there is no xdg-desktop-portal here (make/packages desktop installs it)")
        if "DISPLAY" not in self.variables:
            self.screen = Screen(**self.screen_options)
            self.screen.__enter__()
            self.variables.update(XDG_CURRENT_DESKTOP="gtk", DISPLAY=self.screen.name)
            self.ask("dbus-update-activation-environment", "DISPLAY", "XDG_CURRENT_DESKTOP")
        super().begin()
        for name, service in (("xdg-permission-store", PERMISSIONS), ("xdg-desktop-portal-gtk", "org.freedesktop.impl.portal.desktop.gtk")):
            self.start(self.programs / name, "-r")
            self.owns(service)
        self.start_portal()
        self.ask("gdbus", "call", "--session", "-d", PERMISSIONS, "-o", "/org/freedesktop/impl/portal/PermissionStore", "-m",
                 f"{PERMISSIONS}.SetPermission", "devices", "true", "camera", "", "['yes']")

    def start_portal(self):
        self.portal = self.start(self.programs / "xdg-desktop-portal", "-r")
        self.owns("org.freedesktop.portal.Desktop")

    def __exit__(self, *why):
        super().__exit__(*why)
        self.screen.__exit__(*why)

    def give_script(self):
        self.variables.update(packaged(self.directory / "package"))

    def restart_all(self):
        """PipeWire ends, and its session manager with it; the portal's connection as well, which it makes anew by itself."""
        self.kill(self.server)
        self.kill(self.manager)
        (self.directory / "pipewire-0").unlink(missing_ok=True)
        Video.begin(self)

    def owns(self, name, there=True):
        wait_until(f"{name} on the bus, or gone: {there}", lambda: str(there).lower() in self.ask(
            "gdbus", "call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus", "-m",
            "org.freedesktop.DBus.NameHasOwner", name))


class Page:
    """Serves the page, and keeps what each browser says it sees."""

    def __init__(self):
        page = self
        self.lock = threading.Lock()
        self.said = collections.defaultdict(list)
        # Of each picture at the far side of a call: when it was captured, or None where its mark is not legible.
        self.captured = collections.defaultdict(list)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, body=b"", kind="text/html"):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(PAGE.read_bytes() if self.path.startswith("/?") else b"")

            def do_POST(self):
                what, _, query = self.path[1:].partition("?")
                body = self.rfile.read(int(self.headers["Content-Length"]))
                page.hear(urllib.parse.unquote(query), what, body)
                self.answer()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # Browsers that are killed end their connections as they like.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def hear(self, name, what, body):
        with self.lock:
            if what == "sees":
                state, frames = body[:32].decode().split()
                pixels, mark = body[32:][:PICTURE], body[32:][PICTURE:]
                if mark:
                    read = read_mark(mark[1::4], *MARK, MARK[0])
                    self.captured[name].append(read and read[0])
                rgb = b"".join(pixels[at:at + 3] for at in range(0, len(pixels), 4))
                self.said[name].append((kind(rgb), state, int(frames)))
            else:
                self.said[name].append((what, body.decode(errors="replace"), None))

    def forget(self, name):
        with self.lock:
            self.said[name].clear()
            self.captured[name].clear()

    def of(self, name):
        with self.lock:
            return list(self.said[name])


# What a browser's log has where a process of it has ended by itself, and how often in a row it may. The second is a check that Chromium's
# process for cameras makes of its own threads when a stream begins: Chromium 156 failed it in one of ten to one of three openings, at which
# six in a row are one of 700, and on a busy machine twice in a row in three claims of one run.
CRASHED = {"minidump": 1, "!race_checker": 5}


class Browser:
    """A browser with a profile of its own, on the page. One that ends by itself before it shows anything is started anew."""

    def __init__(self, portal, page, name, tag=None, calls=False):
        """With `calls` the page is in a call, and says what the far side sees."""
        self.portal, self.page, self.name, self.tag, self.calls = portal, page, name, tag or name, calls
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix=f"{self.tag}.", dir=portal.directory))
        self.log = self.profile.with_suffix(".log")
        self.crashes = []
        self.start()

    def command(self):
        url = f"http://localhost:{self.page.server.server_port}/?{self.tag}{'#call' if self.calls else ''}"
        if self.name == "chromium":
            return ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                    "--allow-loopback-in-peer-connection", f"--user-data-dir={self.profile}", "--use-fake-ui-for-media-stream",
                    "--enable-features=WebRtcPipeWireCamera", url]
        (self.profile / "user.js").write_text("".join(f'user_pref("{key}", {value});\n' for key, value in (
            ("media.webrtc.camera.allow-pipewire", "true"), ("media.navigator.permission.disabled", "true"),
            ("media.autoplay.default", "0"), ("media.autoplay.blocking_policy", "0"),
            ("privacy.resistFingerprinting", "false"), ("browser.shell.checkDefaultBrowser", "false"),
            ("datareporting.policy.dataSubmissionEnabled", "false"))))
        return ["firefox-esr", "--headless", "--no-remote", "--profile", str(self.profile), url]

    def start(self):
        self.process = spawn(*self.command(), env=self.portal.environment(), log=self.log, start_new_session=True)

    def version(self):
        return ran(self.name, "--version", status=None, env=self.portal.environment()).stdout.strip()

    def opens(self):
        """Waits until the page has the camera, and something to show of it."""
        def opened():
            said, log = self.page.of(self.tag), self.log.read_text(errors="replace")
            failed = [text for what, text, _ in said if what == "failed"]
            crashed = [sign for sign in CRASHED if sign in log]
            if self.process.poll() is not None or failed or crashed:
                why = failed or crashed or f"ended with {self.process.poll()}"
                most = max((CRASHED[sign] for sign in crashed), default=1)
                assert len(self.crashes) < most, f"{self.version()} again: {self.crashes + [why]}\n{log[-3000:]}"
                self.crashes.append(why)
                self.end()
                self.log.write_text("")
                self.page.forget(self.tag)
                self.start()
                return False
            return any(frames is not None for _, _, frames in said)

        wait_until(f"{self.name} to open the camera", opened, PATIENCE)

    def sees(self, wanted, count=1, patience=PATIENCE):
        before = len(self.page.of(self.tag))
        wait_until(f"{self.tag} to see {wanted!r}; it sees {self.page.of(self.tag)[-1:]}",
                   lambda: sum(one[0] == wanted for one in self.page.of(self.tag)[before:]) >= count, patience)

    def is_live_throughout(self):
        said = self.page.of(self.tag)
        states = {state for what, state, frames in said if frames is not None}
        states |= {text.split()[0] for what, text, _ in said if what == "waits"}
        events = [text for what, text, _ in said if what == "event"]
        assert states == {"live"} and "ended" not in events, (states, events)
        return events

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.end()
        if kind is not None:
            print(f"  {self.tag} said {self.page.of(self.tag)[-12:]}\n{self.log.read_text(errors='replace')[-1500:]}")

    def note(self):
        frames = max((frames for _, _, frames in self.page.of(self.tag) if frames is not None), default=0)
        return f"{frames} frames" + (f", after {len(self.crashes)} crashes of {self.version()}" if self.crashes else "")


@contextlib.contextmanager
def desk(status=0, **options):
    """A desktop with a camera's doorway, its broker, a page, and the agent, which ends with that status."""
    with Portal() as portal, Daemon(**options) as daemon, agent(daemon, portal, status=status) as door:
        doorway(portal)
        yield portal, daemon, Page(), door


def swapped(browser):
    """A browser and a program beside it take turns at one camera, twenty times each; the track stays live."""
    with desk() as (portal, daemon, page, _), contextlib.nullcontext(Focus(daemon)) as focus, Browser(portal, page, browser) as first:
        first.opens()
        first.sees("picture")
        app = wait_until("the browser's session", lambda: [one["app"] for one in sessions(daemon)])[0]
        with Viewer(portal, "mirror") as mirror:
            for _ in range(SWAPS):
                for name, has, waits in (("mirror", mirror, first), (app, first, mirror)):
                    focus.on(name)
                    has.sees("picture")
                    waits.sees("interrupted")
        first.is_live_throughout()
        return f"the broker calls it {app}, {first.note()}"


for name, browser in (("Chromium", "chromium"), ("Firefox", "firefox-esr")):
    claim(f"{name} through the portal is swapped {SWAPS} times between picture and slate, and its track stays live")(
        lambda browser=browser: swapped(browser))


@claim("a page in Chromium sees the camera whichever started first: the session manager, the camera or the portal")
def orders():
    with desk() as (portal, daemon, page, _):
        def sees(tag):
            doorway(portal)
            with Browser(portal, page, "chromium", tag) as browser:
                browser.opens()
                browser.sees("picture", count=5)

        sees("manager-portal-camera")
        portal.kill(portal.portal)
        portal.owns("org.freedesktop.portal.Desktop", False)
        portal.start_portal()
        sees("manager-camera-portal")
        portal.kill(portal.manager)
        portal.manage()
        sees("camera-portal-manager")


def survivors(browser, what, rounds=3):
    """How often a page's stream goes on after something was restarted, and whether a page that comes then has one."""
    went_on = 0
    for _ in range(rounds):
        with contextlib.ExitStack() as stack, desk(-signal.SIGKILL if what == "camagent" else 0) as (portal, daemon, page, door):
            with Browser(portal, page, browser) as old:
                old.opens()
                old.sees("picture")
                if what == "camagent":
                    end(door.process, signal.SIGKILL)
                    stack.enter_context(agent(daemon, portal))
                elif what == "the session manager":
                    portal.kill(portal.manager)
                    portal.manage()
                elif what == "PipeWire":
                    portal.restart_all()
                    doorway(portal)
                else:
                    daemon.restart()
                with contextlib.suppress(AssertionError):
                    # More than may still have been on their way.
                    old.sees("picture", count=20, patience=20)
                    went_on += 1
            with Browser(portal, page, browser, tag="later") as later:
                later.opens()
                later.sees("picture")
    return f"the page's own stream went on in {went_on} of {rounds}"


CRASHES = 3


def crashes(browser):
    """What has the doorways ends again and again below a page, whose track knows nothing of it."""
    with desk() as (portal, daemon, page, door), Browser(portal, page, browser) as watching:
        watching.opens()
        for _ in range(CRASHES):
            watching.sees("picture")
            crash(door)
            # More than may still have been on their way.
            watching.sees("picture", count=20)
        events = watching.is_live_throughout()
        return f"{CRASHES} crashes, the track is live before and after each, events {events}, {watching.note()}"


for browser in ("chromium", "firefox-esr"):
    claim(f"camagent crashes {CRASHES} times below a page in {browser}: its track stays live, and shows the camera again")(
        lambda browser=browser: crashes(browser))
    for what in ("camagent", "the session manager", "the broker", "PipeWire"):
        claim(f"{what} is restarted, and {browser} has the camera at the latest when a page asks anew")(
            lambda browser=browser, what=what: survivors(browser, what))
