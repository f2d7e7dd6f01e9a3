"""The page of `camclient policy play`, from outside: who gets an answer, what a question may reach, and what it may cost."""
import concurrent.futures, contextlib, html, http.client, json, re, select, shutil, socket, subprocess, threading

from camclient import PROGRAM
from harness import PATIENCE, PROGRAMS, ROOT, Ended, Folder, claim, ran, spawn, wait_until
from policy_page import HOSTILE, Page

SECRET = "the-secret-rule-of-another-folder"
SCENARIO = """policy kiosk.toml
camera front

0s   connect loop app=attract.service
     session loop camera=front
     start loop
"""


class Play(Ended):
    """A page over a folder, as a person starts it, and requests to it."""

    def __init__(self, folder, program=PROGRAM):
        self.process = spawn(program, "policy", "play", folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", self.process.stdout.readline())
        assert found, self.process.communicate(timeout=PATIENCE)
        self.port, self.token = int(found[1]), found[2]
        self.origin = f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, **headers):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    def shown(self):
        """The page, as who has its address gets it."""
        status, _, page = self.request("GET", f"/{self.token}/")
        assert status == 200, status
        return page

    def post(self, what, value):
        return self.request("POST", f"/{self.token}/{what}", json.dumps(value), Origin=self.origin, Content_Type="application/json")

    def ask(self, scenario, policy="", plan="", file="typed.toml"):
        status, _, text = self.post("ask", {"file": file, "policy": policy, "scenario": scenario, "plan": plan})
        assert status == 200, (status, text)
        return text


@claim("the page of policy play is on the loopback alone, for who has its address, by its own name and from its own page")
def asked_by():
    with Play(ROOT / "policies") as play:
        listening = ran("ss", "-Hltnp", status=None).stdout
        own = [line.split()[3] for line in listening.splitlines() if f"pid={play.process.pid}," in line]
        assert own == [f"127.0.0.1:{play.port}"], (own, listening)
        page = f"/{play.token}/"
        status, headers, text = play.request("GET", page)
        assert status == 200 and "<textarea" in text
        policy = headers["Content-Security-Policy"]
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy)[1]
        assert policy.startswith("default-src 'none'; ") and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert text.count(f'nonce="{nonce}"') == 3 and nonce not in play.shown()
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"], headers["Cache-Control"]) == (
            "nosniff", "no-referrer", "no-store")
        wrong = play.token[:-1] + ("0" if play.token[-1] != "0" else "1")
        json_type = {"Content_Type": "application/json"}
        for status, request in [
            (404, ("GET", "/")), (404, ("GET", f"/{wrong}/")), (404, ("GET", f"/{play.token}")), (404, ("GET", page + "../")),
            (404, ("PUT", page)), (404, ("GET", page + "ask")), (404, ("POST", f"/{wrong}/ask", "{}")),
            (403, ("GET", page, None, {"Host": f"localhost:{play.port}"})), (403, ("GET", page, None, {"Host": "127.0.0.1"})),
            (403, ("GET", page, None, {"Host": f"evil.example:{play.port}"})),
            (403, ("POST", page + "ask", "{}", json_type)),
            (403, ("POST", page + "ask", "{}", {"Origin": "http://evil.example", **json_type})),
            (403, ("POST", page + "ask", "{}", {"Origin": "null", **json_type})),
            (403, ("POST", page + "ask", "{}", {"Origin": play.origin})),
            (403, ("POST", page + "ask", "{}", {"Origin": play.origin, "Sec_Fetch_Site": "cross-site", **json_type})),
            (400, ("POST", page + "ask", "{}", {"Origin": play.origin, **json_type})),
        ]:
            method, path, body, headers = (*request, *(None, {})[len(request) - 2:])
            got, _, text = play.request(method, path, body, **headers)
            assert (got, text) == (status, ""), (request, got, text)
        assert play.process.poll() is None
        play.process.terminate()
        assert play.process.wait(PATIENCE) == -15


@claim("what is typed into policy play is checked, lived through, explained and planned")
def outcome():
    kiosk = (ROOT / "policies/kiosk.toml").read_text()
    with Play(ROOT / "policies") as play:
        text = play.ask(SCENARIO, plan="connect call app=intercom.service\nsession call camera=front\nstart call")
        page = Page(text)
        assert "The outcome differs from what you wrote" in page.text and "loop didStartRunning" in page.text
        assert "call didStartRunning" in page.text and "Interrupted, in this order" in page.text
        assert any("because “no other bid”" in link.get("aria-label", "") for link in page.all("a")), text
        written = SCENARIO + "       loop didStartRunning\n"
        assert "It comes out as written" in play.ask(written)
        # A policy that is typed takes the place of the scenario's, and includes what the folder has.
        assert "The outcome under mine" in play.ask(written, 'include = ["kiosk.toml"]\nname = "mine"\n')
        assert "3min" in play.ask(SCENARIO.replace("attract", "photobooth").replace("loop", "booth"), kiosk), "its lease ends by itself"
        wrong = Page(play.ask(written, kiosk.replace("grace ", "garce ")))
        assert "did you mean" in wrong.text and [one["data-line"] for one in wrong.all("li")] == ["62"], wrong.text
        wrong = Page(play.ask("camera front\n\n0s   conect a\n", kiosk))
        assert [one["data-line"] for one in wrong.all("li")] == ["3"], wrong.text
        status, _, text = play.post("file", {"name": "kiosk.toml"})
        assert (status, text) == (200, kiosk)


def fields(page):
    """What the page's two fields have at first."""
    return [html.unescape(text) for text in re.findall(r"<textarea[^>]*>\n?(.*?)</textarea>", page, re.DOTALL)]


def examples(page):
    """The number of each example with its policy's file, and the words that it is chosen by."""
    return [(int(number), file, html.unescape(words)) for number, file, words in
            re.findall(r'<option value="(\d+)" data-file="([^"]+)">(.*?)</option>', page)]


@claim("policy play opens with an example, offers the cookbook's and the shipped policies, each with a scenario that comes out as written, "
       "lists the folder's files, and says nothing of command lines")
def beginning():
    recipes = sorted((ROOT / "docs" / "cookbook").glob("*.toml"))
    with Play(ROOT / "cameras") as play:
        page = play.shown()
        offered = examples(page)
        assert [file for _, file, _ in offered] == [path.name for path in (*recipes, *sorted((ROOT / "policies").glob("*.toml")))], offered
        assert all(re.fullmatch(r"[\w-]+: .{10,}", words) for _, _, words in offered), offered
        for number, file, _ in offered:
            status, headers, text = play.post("example", {"number": number})
            example = json.loads(text)
            assert status == 200 and example["file"] == file and example["policy"] and example["scenario"], (file, status, text)
            if number == 0:
                assert [text.strip() for text in fields(page)] == [example[key].strip() for key in ("policy", "scenario")], fields(page)
            said = Page(play.ask(example["scenario"], example["policy"], file=file)).text
            assert "It comes out as written" in said and "problem" not in said.partition("The outcome under")[0], (file, said)
        for wrong in ({"number": len(offered)}, {"number": -1}, {"number": "0"}, {}):
            assert play.post("example", wrong)[0] == 404, wrong
        listed = re.findall(r'<option value="([^"]+\.toml)"', page)
        assert listed == sorted(path.name for path in (ROOT / "cameras").glob("*.toml")), listed
        assert "The folder has no file *.scenario" in page
        missing = Page(play.ask("policy nosuch.toml\n\n0s   connect a\n")).text
        assert "there is no nosuch.toml in this folder" in missing and "--" not in missing, missing


RECIPE = """# Whoever comes first has the camera.
# A second line.
include = ["../policies/v4l2.toml"]
name = "first"
"""


@claim("policy play begins with whatever recipes its package has, also with one that includes a shipped policy or has no scenario, and with "
       "an example of its own where there is none")
def recipes():
    with Folder() as prefix:
        for program, place in (("camclient", "bin"), ("camplay", "libexec/camarb")):
            (prefix / place).mkdir(parents=True)
            shutil.copy(PROGRAMS / program, prefix / place)
        # Nothing but the folder's own files is to be read for the page.
        (empty := prefix / "empty").mkdir()
        with Play(empty, prefix / "bin" / "camclient") as play:
            page = play.shown()
            assert not examples(page) and all(fields(page)), page
            said = Page(play.ask(*reversed(fields(page)))).text
            assert "call didStartRunning" in said and "photos interruptionEnded" in said and "problem" not in said, said
        (book := prefix / "share" / "camarb" / "cookbook").mkdir(parents=True)
        shutil.copytree(ROOT / "policies", prefix / "share" / "camarb" / "policies")
        (book / "first.toml").write_text(RECIPE)
        (book / "first.scenario").write_text("# A claim.\n\npolicy first.toml\ncamera front\n\n0s   connect a\n     session a camera=front\n"
                                             "     start a\n       a didStartRunning\n")
        (book / "second.toml").write_text(f'# <b>{HOSTILE}\nname = "second"\n')
        (book / "third.toml").write_text("name = \n")
        with Play(empty, prefix / "bin" / "camclient") as play:
            page = play.shown()
            assert [words for _, _, words in examples(page)][:3] == [
                "first: Whoever comes first has the camera.", f"second: <b>{HOSTILE}"[:len("second: ") + 110], "third"], examples(page)
            assert "<b>" not in page
            policy, scenario = fields(page)
            assert policy.startswith("# Whoever comes first has the camera.\n") and "include" not in policy and "policy " not in scenario
            assert "It comes out as written" in Page(play.ask(scenario, policy)).text
            assert json.loads(play.post("example", {"number": 1})[2])["scenario"] == ""


@claim("policy play reads nothing outside the folder that it was given")
def confined():
    with Folder() as outside:
        folder, secret, near = outside / "folder", outside / "secret.toml", outside / "folder-2" / "near.toml"
        folder.mkdir()
        near.parent.mkdir()
        shutil.copy(ROOT / "policies/kiosk.toml", folder)
        for file in (secret, near):
            file.write_text(f'name = "{SECRET}"\n')
        (folder / "link.toml").symlink_to(secret)
        (folder / "sub").symlink_to(outside)
        shutil.copy(ROOT / "cameras/iphone6s-back.toml", outside / "camera.toml")
        with Play(folder) as play:
            for way in ("../secret.toml", str(secret), "link.toml", "sub/secret.toml", "../folder-2/near.toml", "/etc/passwd",
                        "../none.toml"):
                included = play.ask(SCENARIO, f'include = ["{way}"]\nname = "mine"\n')
                for text in (included, play.ask(SCENARIO.replace("kiosk.toml", way))):
                    assert SECRET not in text and "root:" not in text and "The outcome" not in text, (way, text)
                assert "is not in the folder" in included, included
                assert play.post("file", {"name": way})[0] == 404, way
            camera = f"camera front model={outside}/camera.toml"
            assert "is not in the folder" in play.ask(SCENARIO.replace("camera front", camera, 1)), "a camera's model"
            assert play.post("ask", {"file": "../x.toml", "policy": "", "scenario": "", "plan": ""})[0] == 400
            assert play.post("file", {"name": ".."})[0] == 404
            assert play.post("file", {"name": "kiosk.toml"})[0] == 200


@claim("whatever a name contains that is typed into policy play, its answer has it as words")
def escaped():
    with Play(ROOT / "policies") as play:
        scenario = SCENARIO.replace("loop", f'"{HOSTILE}"').replace("camera=front", 'camera="front"')
        for text in (play.ask(scenario), play.ask(f"# {HOSTILE}\n{HOSTILE}\n"), play.ask(SCENARIO, f'name = "{HOSTILE}"\n'),
                     play.ask(SCENARIO, f"<blink>{HOSTILE}")):
            page = Page(text)
            assert not page.all("img") and not page.all("script") and not page.all("blink"), text
            assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes), text
            assert HOSTILE in page.text, text


# So many connections may be open that have not shown the address.
STRANGERS = 256


class Crowd(threading.Thread):
    """Holds as many connections to a page as there may be, without a word or with the wrong ones, and renews each that is cut."""

    def __init__(self, port, count=STRANGERS, said=b""):
        super().__init__(daemon=True)
        self.port, self.count, self.said = port, count, said
        self.opened, self.over = 0, threading.Event()

    def run(self):
        held = []
        while not self.over.is_set():
            ready = select.select(held, [], [], 0.001)[0] if held else []
            for connection in ready:
                # It says nothing to whoever says nothing: what can be read is its end.
                with contextlib.suppress(OSError):
                    if connection.recv(4096):
                        continue
                held.remove(connection)
                connection.close()
            while len(held) < self.count:
                try:
                    connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                    connection.sendall(self.said)
                except OSError:
                    break
                held.append(connection)
                self.opened += 1
        for connection in held:
            connection.close()

    def __enter__(self):
        self.start()
        wait_until("the crowd to be there", lambda: self.opened >= self.count)
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@claim("connections without the address keep nobody out of policy play who has it: the oldest of them makes room; those that have "
       "shown it stay")
def crowded():
    with Play(ROOT / "policies") as play, contextlib.ExitStack() as guests:
        def guest():
            return guests.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", play.port, timeout=PATIENCE)))

        def shown(connection):
            connection.request("GET", f"/{play.token}/")
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read(), answer.status

        shown(kept := guest())
        wrong = f"GET /{'0' * 32}/ HTTP/1.1\r\nHost: 127.0.0.1:{play.port}\r\n".encode()
        # A request of which the half has come is one that has shown it.
        with socket.create_connection(("127.0.0.1", play.port), timeout=PATIENCE) as half:
            half.sendall(f"POST /{play.token}/file HTTP/1.1\r\nHost: 127.0.0.1:{play.port}\r\nOrigin: {play.origin}\r\n"
                         f"Content-Type: application/json\r\nContent-Length: 22\r\nConnection: close\r\n\r\n".encode())
            with Crowd(play.port, said=wrong) as crowd:
                for _ in range(30):
                    play.shown()
                    # The same connection as at first: nobody's room.
                    shown(kept)
                assert crowd.opened > STRANGERS, "nobody made room"
                half.sendall(b'{"name": "kiosk.toml"}')
                assert half.recv(12) == b"HTTP/1.1 200"
        # Where all that there are have shown it, one more is refused, as it was.
        for _ in range(15):
            shown(guest())
        with contextlib.suppress(OSError, http.client.HTTPException):
            play.request("GET", f"/{play.token}/")
            raise AssertionError("there are more connections than there may be")
        guests.close()
        wait_until("room", lambda: not refuses(play))


def refuses(play):
    try:
        return play.request("GET", f"/{play.token}/")[0] != 200
    except (OSError, http.client.HTTPException):
        return True


def heavy():
    """More than a second of work in the bytes that a scenario may have."""
    apps = "".join(f"     connect a{one} presence=fullscreen\n     session a{one} camera=back\n     start a{one}\n" for one in range(400))
    leave = "".join(f"{one + 1}s   presence a{one % 400} background\n" for one in range(700))
    return f"policy desktop.toml\ncamera back\n\n0s\n{apps}{leave}"


@claim("a question of policy play is cut off when its time is up, a newer one replaces one that waits, and sizes are bounded")
def bounded():
    with Play(ROOT / "policies") as play:
        assert "NOT COMPLETE" in play.ask(heavy())
        assert "longer than the" in play.ask("#" * 70_000)
        body = json.dumps({"file": "x.toml", "policy": "#" * 300_000, "scenario": "", "plan": ""})
        with contextlib.suppress(ConnectionError):
            assert play.request("POST", f"/{play.token}/ask", body, Origin=play.origin, Content_Type="application/json")[0] == 413
        # Three at once: one is worked out, one waits, and whichever came before that one is told so.
        question = {"file": "x.toml", "policy": "", "scenario": heavy(), "plan": ""}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: play.post("ask", question)[0], range(4)))
        assert set(found) == {200, 409}, found
        # Connections beyond the bound are closed, and there is room again once others are gone.
        with contextlib.ExitStack() as stack:
            open_ones = [stack.enter_context(socket.create_connection(("127.0.0.1", play.port), PATIENCE)) for _ in range(40)]
            for one in open_ones[16:]:
                with contextlib.suppress(ConnectionError):
                    assert one.recv(1) == b"", "it says something unasked"
        assert "The outcome under" in play.ask(SCENARIO)
