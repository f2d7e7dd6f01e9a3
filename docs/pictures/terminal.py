"""Commands that are typed into shells on terminals of their own, and an SVG that shows what happens there."""
import collections, fcntl, html, os, pty, re, select, signal, struct, sys, termios, time

import pyte

# Seconds: how long anything may take that is waited for; how long nothing may happen in the picture; how long its end stands.
PATIENCE, STILL_MAX, END_STANDS = 20, 2.5, 8
COLUMNS = 96
# In the picture's units.
CHARACTER, LINE, MARGIN, TITLE, BASELINE = 8.4, 19, 14, 28, 14
# The colours of a terminal by pyte's names, and those of the picture, in light and in dark.
COLOURS = {"default": ("#24292f", "#d6dbe1"), "red": ("#b3261e", "#ff8a80"), "green": ("#116329", "#7ee787"),
           "brown": ("#7d4e00", "#e3b341"),
           "page": ("#f6f8fa", "#0d1117"), "bar": ("#dde3ea", "#21262d"), "title": ("#57606a", "#9aa4af")}
# The prompt is green, and what is typed behind it bold.
PROMPT, PLAIN = r"\[\e[32m\]$\[\e[0;1m\] ", r"\e[0m"
# More frames than this a second nobody sees.
FRAME = 0.05


class Terminal:
    """A shell on a terminal of its own, and all that its screen shows, with the times."""

    def __init__(self, title, lines, folder, environment):
        self.title, self.lines, self.shown = title, lines, []
        self.screen, self.whole = pyte.Screen(COLUMNS, lines), pyte.Screen(COLUMNS, 300)
        self.streams = [pyte.ByteStream(self.screen), pyte.ByteStream(self.whole)]
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile"], {
                **environment, "TERM": "xterm-256color", "PS1": PROMPT, "PS0": PLAIN, "COLUMNS": str(COLUMNS)})
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, COLUMNS, 0, 0))
        # A Ctrl-C shows as ^C before or behind what it makes a program print.
        settings = termios.tcgetattr(self.descriptor)
        settings[3] &= ~termios.ECHOCTL
        termios.tcsetattr(self.descriptor, termios.TCSANOW, settings)

    def read(self):
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            return
        for stream in self.streams:
            stream.feed(data)
        self.shown.append((time.monotonic(), [self.spans(self.screen.buffer[row]) for row in range(self.lines)]))

    @staticmethod
    def spans(row):
        """A row as [(first column, style, text)], without what is blank."""
        found, before = [], None
        for column in range(COLUMNS):
            letter = row[column]
            style = (letter.fg if letter.fg in COLOURS else "default", letter.bold)
            if style == before:
                found[-1][2].append(letter.data)
            else:
                found.append((column, style, [letter.data]))
            before = style
        return tuple((column, style, text) for column, style, letters in found if (text := "".join(letters).rstrip()))

    @property
    def transcript(self):
        return "\n".join(line.rstrip() for line in self.whole.display).rstrip()


class Recording:
    def __init__(self, fast):
        self.fast, self.terminals = fast, []

    def wait(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while not until() and (left := end - time.monotonic()) > 0:
            for descriptor in select.select([one.descriptor for one in self.terminals], [], [], min(left, 0.1))[0]:
                next(one for one in self.terminals if one.descriptor == descriptor).read()

    def pause(self, seconds):
        self.wait(0.1 if self.fast else seconds)

    def expect(self, terminal, words):
        self.wait(PATIENCE, lambda: re.search(words, terminal.transcript, re.M))
        if not re.search(words, terminal.transcript, re.M):
            sys.exit(f"{terminal.title}: no “{words}” within {PATIENCE} s:\n{terminal.transcript}")

    def type(self, terminal, command, words=r"^\$$"):
        """Types a command, and waits until the terminal shows the words behind it; else, until the shell asks for the next."""
        for part in re.findall(".{1,3}", command):
            os.write(terminal.descriptor, part.encode())
            self.pause(0.07)
        self.pause(0.4)
        os.write(terminal.descriptor, b"\n")
        self.wait(0.2)
        self.expect(terminal, words)

    def end(self):
        for terminal in self.terminals:
            os.close(terminal.descriptor)
            os.kill(terminal.process, signal.SIGKILL)
            os.waitpid(terminal.process, 0)


def boxed(terminal):
    return TITLE + terminal.lines * LINE + MARGIN // 2


def drawn(title, terminals):
    """The recording as one SVG: each line that is ever shown is an element, which is visible while it is shown."""
    begun = min(shown[0] for one in terminals for shown in one.shown)
    moments = sorted({round((at - begun) / FRAME) * FRAME for one in terminals for at, _ in one.shown})
    # A long time in which nothing happens is shorter in the picture.
    places, now = {}, 0.0
    for before, moment in zip([0.0] + moments, moments):
        now += min(moment - before, STILL_MAX)
        places[moment] = now
    end = now + END_STANDS
    lines, tops, top = collections.defaultdict(list), [], MARGIN
    for one in terminals:
        tops.append(top)
        frames = dict((places[round((at - begun) / FRAME) * FRAME], rows) for at, rows in one.shown)
        for row in range(one.lines):
            changes = []
            for at, rows in frames.items():
                if not changes or changes[-1][1] != rows[row]:
                    changes.append((at, rows[row]))
            for (at, spans), until in zip(changes, [at for at, _ in changes[1:]] + [end]):
                if spans:
                    lines[(top + TITLE + row * LINE + BASELINE, spans)].append((at, until))
        top += boxed(one) + MARGIN
    width, height = COLUMNS * CHARACTER + 4 * MARGIN, top
    keyframes, body = {}, []
    for one, place in zip(terminals, tops):
        box = f'x="{MARGIN}" width="{width - 2 * MARGIN:g}" rx="6"'
        body += [f'<rect {box} y="{place}" height="{boxed(one)}" class="page"/>',
                 f'<rect {box} y="{place}" height="{TITLE - 6}" class="bar"/>',
                 f'<text x="{2 * MARGIN}" y="{place + 15}" class="title">{html.escape(one.title)}</text>']
    for (y, spans), times in lines.items():
        name = keyframes.setdefault(tuple(times), f"k{len(keyframes)}")
        hidden = "" if times[-1][1] == end else " h"
        body.append(f'<g class="l{hidden}" style="animation-name:{name}">' + "".join(
            f'<text x="{2 * MARGIN + column * CHARACTER:g}" y="{y}" textLength="{len(text) * CHARACTER:g}" '
            f'class="{style[0]}{" b" if style[1] else ""}">{html.escape(text)}</text>' for column, style, text in spans) + "</g>")
    return page(title, width, height, end, keyframes, body, terminals)


def page(title, width, height, end, keyframes, body, terminals):
    percent = lambda at: f"{100 * at / end:.2f}%"
    motion = "".join(f"@keyframes {name}{{" + ("" if times[0][0] == 0 else "0%{visibility:hidden}") + "".join(
        f"{percent(at)}{{visibility:visible}}" + ("" if until == end else f"{percent(until)}{{visibility:hidden}}")
        for at, until in times) + "}\n" for times, name in keyframes.items())
    colours = [" ".join(f".{name}{{fill:{both[mode]}}}" for name, both in COLOURS.items()) for mode in (0, 1)]
    told = "\n\n".join(f"{one.title}:\n{one.transcript}" for one in terminals)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width:g} {height:g}" role="img"
aria-labelledby="title told">
<title id="title">{html.escape(title)}</title>
<desc id="told">{html.escape(told)}</desc>
<style>
text{{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}}
.title{{font:12px system-ui,sans-serif}} .b{{font-weight:bold}}
{colours[0]}
@media (prefers-color-scheme:dark){{{colours[1]}}}
.l{{animation:{end:.2f}s step-end infinite}} .h{{visibility:hidden}}
@media (prefers-reduced-motion:reduce){{.l{{animation:none}}}}
{motion}</style>
""" + "\n".join(body) + "\n</svg>\n"
