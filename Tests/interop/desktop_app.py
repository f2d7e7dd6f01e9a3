#!/usr/bin/python3
"""An application of a desktop, in a process of its own: a window, and a session of the camera.

usage: desktop_app.py ADDRESS DISPLAY NAME [claim] [forge=PID] [windowless] [helper]

NAME becomes the process's own name, and with `claim` also what it says it is. With `windowless` it has a session and no
window; with `helper` it has a window, and a child without one has the session. What happens to it is said on standard
output, a JSON line each; it ends when its standard input does, and does what it reads there: fullscreen, window,
minimize, close, answer (which says that everything that came before has been said).
"""
import ctypes, json, os, select, subprocess, sys

from harness import App, die_with_parent
from xwindow import Display

address, screen, name, *words = sys.argv[1:]
ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME


def say(**what):
    print(json.dumps(what), flush=True)


app = display = window = child = None
if "windowless" not in words:
    display = Display(screen)
    window = display.window(name)
    for word in words:
        if word.startswith("forge="):
            display.claim_process(window, int(word[6:]))
    display.show(window)
    say(what="window", window=window, process=os.getpid())
if "helper" in words:
    child = subprocess.Popen(
        [sys.executable, __file__, address, screen, f"{name}-helper", "windowless", *(set(words) & {"claim"})],
        stdin=subprocess.PIPE, preexec_fn=die_with_parent)
else:
    app = App(address, name if "claim" in words else None)
    app.session().start()
    say(what="started")
while True:
    ready, _, _ = select.select([sys.stdin, *(one for one in (app, display) if one)], [], [])
    if display in ready:
        display.drain()
    if app:
        app.poll()
        for path, member, body in app.signals[app.seen:]:
            app.seen += 1
            say(what=member, body=[value for value in body if isinstance(value, (int, str, list))])
    if sys.stdin in ready:
        command = sys.stdin.readline().strip()
        if command == "fullscreen":
            display.fill_screen(window)
        elif command == "window":
            display.fill_screen(window, False)
        elif command == "minimize":
            display.minimize(window)
        elif command == "close":
            display.destroy(window)
        elif command == "answer":
            say(what="answer")
        elif not command:
            break
if child:
    child.communicate()
