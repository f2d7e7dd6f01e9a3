#!/usr/bin/python3
"""An application of a desktop, in a process of its own: a window, and a session of the camera.

usage: desktop_app.py ADDRESS DISPLAY NAME [claim] [forge=PID] [windowless] [child=NAME[+WORD…]] [orphan] [tty] [unit=GROUP]

DISPLAY is X11's, or the path of a Wayland socket. NAME becomes the process's own name, and with `claim` also what it says
it is. With `windowless` it has a session and no window; `child=` starts another that is as its words say. An `orphan` is not
its parent's any more, one with `tty` has a controlling terminal, and `unit=` waits until it has been put into that control
group. What happens to it is said on standard output, a JSON line each; it ends when its standard input does, and does what it
reads there: fullscreen, window, minimize, close, answer (which says that everything that came before has been said).
"""
import ctypes, fcntl, json, os, pty, select, subprocess, sys, termios

import groups
import wlwindow
import xwindow
from harness import App, die_with_parent

address, screen, name, *words = sys.argv[1:]
for word in words:
    if word.startswith("unit="):
        groups.wait_for(word[5:])
if "orphan" in words:
    reading, writing = os.pipe()
    if os.fork():
        os._exit(0)
    os.close(writing)
    os.setsid()
    os.read(reading, 1)  # Until the parent is gone.
if "tty" in words:
    if os.getsid(0) != os.getpid():
        os.setsid()
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


def say(**what):
    print(json.dumps(what), flush=True)


class X11Window:
    def __init__(self):
        self.display = xwindow.Display(screen)
        self.window = self.display.window(name)
        for word in words:
            if word.startswith("forge="):
                self.display.claim_process(self.window, int(word[6:]))
        self.display.show(self.window)

    def __getattr__(self, what):
        return lambda *how: getattr(self.display, what)(self.window, *how)

    def fileno(self):
        return self.display.fileno()

    def drain(self):
        self.display.drain()


window, children = None, []
if "windowless" not in words:
    window = wlwindow.Window(screen, name) if screen.startswith("/") else X11Window()
    say(what="window", window=getattr(window, "window", name), process=os.getpid())
for called, *its in (word[6:].split("+") for word in words if word.startswith("child=")):
    children.append(subprocess.Popen(
        [sys.executable, __file__, address, screen, called, *its, *(set(words) & {"claim"})], stdin=subprocess.PIPE,
        preexec_fn=die_with_parent))
app = App(address, name if "claim" in words else None)
app.session().start()
say(what="started")
while True:
    ready, _, _ = select.select([sys.stdin, app, *([window] if window else [])], [], [])
    if window in ready:
        window.drain()
    app.poll()
    for path, member, body in app.signals[app.seen:]:
        app.seen += 1
        say(what=member, body=[value for value in body if isinstance(value, (int, str, list))])
    if sys.stdin in ready:
        command = sys.stdin.readline().strip()
        if not command:
            break
        {"fullscreen": lambda: window.fill_screen(), "window": lambda: window.fill_screen(False), "minimize": lambda: window.minimize(),
         "close": lambda: window.destroy(), "answer": lambda: say(what="answer")}[command]()
for child in children:
    child.communicate()
