"""What the user sees of the cameras and says about apps: camagent between a session bus with a panel, a notification server
and a permission store on one side, and a broker on the other."""
import contextlib, os, time

from jeepney import DBusAddress, HeaderFields, new_method_call, new_signal
from jeepney.io.blocking import open_dbus_connection

from desktop import Agent, desk
from false_broker import FalseBroker, use
from harness import PATIENCE, SHELL, Refused, claim, refused, wait_until
from message_bus import BUS, Bus
from session_bus import ITEM, Notifications, Panel, Store, Watcher

CAUSE = "video-device-in-use-by-another-client"
ON, OFF = "Turn privacy on: no camera for your apps", "Turn privacy off"
HELD = use("front", "Front camera", "red", own=True, since=1_700_000_000_000_000)
WAITED = use("front", "Front camera", "blue", own=True, waiting=[("red_one", 1_700_000_000_000_000)])


def agent(broker, bus, *words, **variables):
    return Agent(broker, "--windows", "none", "--microphones", "none", *words, DBUS_SESSION_BUS_ADDRESS=bus.address,
                 TZ="UTC", **variables)


def panel(bus, watcher):
    wait_until("an item in the panel", lambda: watcher.items)
    return Panel(bus, watcher.items[-1])


def asks(broker, number, app, seconds=30, vouched=False, program="/usr/bin/python3"):
    broker.signal("Question", "usbssu", number, app, vouched, program, "Front camera", seconds)


def cuts(broker, app, by="", cause=CAUSE):
    broker.signal("RecordingCut", "ssss", app, "front", by, cause)


@claim("while a camera is in use the panel has an item that says which app has it, since when and which ones wait, and no longer")
def indicator():
    with Bus() as bus, Watcher(bus) as watcher, FalseBroker() as broker, agent(broker, bus):
        broker.wait("ListUse")
        assert not watcher.items, "an item without a use"
        broker.uses(HELD)
        with panel(bus, watcher) as face:
            shown = face.properties()
            assert (shown["Category"], shown["Id"], shown["Status"]) == ("Hardware", "camarb", "Active"), shown
            assert shown["IconName"] == "camera-video-symbolic" and shown["Menu"] == "/MenuBar" and shown["ItemIsMenu"] is True, shown
            assert shown["ToolTip"][2:] == ("A camera is in use", "red has Front camera since 2023-11-14 22:13"), shown
            labels = [label for _, label in face.lines()]
            assert labels == ["red has Front camera since 2023-11-14 22:13", "-", "Stop red", ON], labels
            before = face.menu_call("GetLayout", "iias", 0, 0, [])[0]
            broker.uses(WAITED)
            wait_until("the change", lambda: face.line("Stop red__one"))
            labels = [label for _, label in face.lines()]
            # Two underscores are one to be read; a time that is not known is not made up.
            assert labels[:2] == ["blue has Front camera", "red__one waits for Front camera since 2023-11-14 22:13"], labels
            assert face.menu_call("GetLayout", "iias", 0, 0, [])[0] > before, "the menu's revision stays"
            broker.uses(use("front", "Front <b>", "red", recording=True))
            wait_until("recording", lambda: face.properties()["IconName"] == "media-record-symbolic")
            assert face.properties()["ToolTip"][3] == "red has Front &lt;b&gt; and records", face.properties()
        broker.uses()
        wait_until("the item to leave", lambda: not watcher.items)


@claim("stop and privacy in the panel's menu reach the broker, and a number that no line has is an error")
def clicking():
    with Bus() as bus, Watcher(bus) as watcher, FalseBroker() as broker, agent(broker, bus), contextlib.ExitStack() as stack:
        broker.uses(HELD)
        face = stack.enter_context(panel(bus, watcher))
        stop = face.line("Stop red")
        face.click(stop)
        broker.wait("StopApp", (f"red@{os.getuid()}",))
        face.click(face.line(ON))
        broker.wait("SetOwnPrivacy", (True,))
        wait_until("privacy to be shown", lambda: face.line(OFF))
        # A line to be read does nothing, and neither does pointing at one.
        face.click(face.lines()[0][0])
        face.menu_call("Event", "isvu", stop, "hovered", ("s", ""), 0)
        broker.uses(use("front", "Front camera", "blue", own=True))
        there = wait_until("the other holder", lambda: face.line("Stop blue"))

        def clicked(*ids):
            return [(id, "clicked", ("s", ""), 0) for id in ids]

        for call in (
                ("Event", "isvu", *clicked(stop)[0]), ("GetLayout", "iias", stop, -1, []), ("GetProperty", "is", stop, "label"),
                ("AboutToShow", "i", stop), ("AboutToShow", "i", -1), ("AboutToShowGroup", "ai", [stop, 99999]),
                ("GetGroupProperties", "aias", [stop], []), ("EventGroup", "a(isvu)", clicked(stop)),
                ("GetGroupProperties", "aias", list(range(10_000)), []), ("Event", "s", "clicked"), ("Fly", "i", 1),
                ("EventGroup", "a(isvu)", clicked(*range(10_000)))):
            refused(lambda: face.menu_call(*call))
        # Those that are there are answered among those that are not.
        assert face.menu_call("GetGroupProperties", "aias", [stop, there], ["label"]) == ([(there, {"label": ("s", "Stop blue")})],)
        assert face.menu_call("AboutToShowGroup", "ai", [stop, there]) == ([], [stop])
        assert face.menu_call("EventGroup", "a(isvu)", clicked(stop, there)) == ([stop],)
        broker.wait("StopApp", (f"blue@{os.getuid()}",))
        assert len(broker.said("StopApp")) == 2, broker.said("StopApp")
        # It is the broker's to keep: somebody may have turned it off meanwhile.
        broker.stop()
        broker.private, broker.calls = False, []
        broker.uses(HELD)
        broker.start()
        wait_until("the switch to be off again", lambda: face.line(ON))
        assert not broker.said("SetOwnPrivacy"), broker.calls


@claim("the item registers with a panel that comes later, and with the next one; a bus that is restarted gets it anew")
def panels():
    with Bus() as bus, FalseBroker() as broker, agent(broker, bus) as face:
        broker.uses(HELD)
        face.says("no panel shows status icons")
        for _ in range(2):
            with Watcher(bus) as watcher, panel(bus, watcher) as shown:
                assert shown.properties()["Title"] == "A camera is in use"
        bus.stop()
        face.says("the session bus has ended the connection")
        bus.start()
        with Watcher(bus) as watcher, panel(bus, watcher) as shown:
            assert shown.line("Stop red"), shown.lines()
        assert face.said().count("session bus has ended") == 1, face.said()


@claim("an answer that somebody else gave for an app is a notification that names who gave it, and stays when others come; "
       "it is not hidden behind them, and a server that comes later shows it")
def answered_by_others():
    with Bus() as bus, FalseBroker() as broker, agent(broker, bus):
        broker.wait("ListUse")
        broker.signal("AnswerChanged", "sbssus", "Sp\u202e<y", False, "allow", "python3", 4711, "/opt/evil/python3")
        with Notifications(bus, "body", "body-markup", "actions") as server:
            first = server.wait("cameras")
            assert first.summary == "An app was allowed to use cameras" and first.replaces == 0, first
            assert first.body == ("“Sp &lt;y”, a name that nobody vouches for, may use cameras from now on: "
                                  "“python3” (process 4711, /opt/evil/python3) said so."), first
            for number in range(9):
                cuts(broker, f"app{number}")
            broker.signal("AnswerChanged", "sbssus", "Zoom", True, "deny", "another user's app", 0, "")
            second = server.wait("Zoom")
            assert second.replaces == 0, "who answered is not to be seen any more"
            assert "“Zoom” may use no camera from now on: another user's app said so." in second.body, second
            assert "6 more times" in second.body and "app2" in second.body and "app3" not in second.body, second


@claim("a question is a notification with two buttons, whose server alone is believed, and which goes when it is over")
def questions():
    with Bus() as bus, Notifications(bus, "actions", "body") as server, FalseBroker() as broker, agent(broker, bus):
        broker.wait("WatchQuestions", (True,))
        asks(broker, 7, "Zoom")
        asked = server.wait("“Zoom”")
        assert asked.summary == "May “Zoom” use cameras?", asked
        assert "nobody vouches for the name" in asked.body and "/usr/bin/python3" in asked.body, asked
        assert asked.actions[1::2] == ["Allow", "Deny"] and asked.hints["urgency"] == ("y", 2), asked
        allow = asked.key("Allow")
        assert asked.time == 30_000, asked
        # Another program on the bus says to camagent alone that the button was pressed.
        forger = open_dbus_connection(bus=bus.address, auth_timeout=PATIENCE)
        names = forger.send_and_get_reply(new_method_call(BUS, "ListNames"), timeout=PATIENCE).body[0]
        for name in (name for name in names if name.startswith(":") and name != forger.unique_name):
            signal = new_signal(DBusAddress(server.path, interface=server.name), "ActionInvoked", "us", (asked.id, allow))
            signal.header.fields[HeaderFields.destination] = name
            forger.send(signal)
        forger.close()
        # What is no answer, a notification that is not this one, one that somebody put in its place, with buttons that a question might
        # have, and nonsense.
        for signature, *body in (("us", asked.id, "default"), ("us", asked.id + 1, allow), ("us", asked.id, "allow"), ("s", "allow")):
            server.emit("ActionInvoked", signature, *body)
        server.emit("NotificationClosed", "uu", asked.id, 2)
        server.press(asked, "Deny")
        broker.wait("AnswerQuestion")
        assert broker.said("AnswerQuestion") == [(7, "deny")], broker.said("AnswerQuestion")
        broker.signal("QuestionEnded", "us", 7, "deny")
        wait_until("the notification to be closed", lambda: asked.id in server.closed)
        asks(broker, 8, "org.example.Vouched", 12, vouched=True, program="")
        asked = server.wait("org.example.Vouched")
        assert asked.key("Allow") != allow, "the next question's buttons can be known from this one's"
        assert "vouches" not in asked.body and "program" not in asked.body and asked.time == 12_000, asked
        # The next server asks it anew; one without buttons cannot.
        server.end()
        broker.wait("WatchQuestions", (False,))
        with Notifications(bus, "body") as plain:
            wait_until("the next server to be asked", lambda: plain.asked)
        with Notifications(bus, "actions") as buttons:
            wait_until("questions to be wanted again", lambda: broker.said("WatchQuestions").count((True,)) == 2)
            assert broker.said("WatchQuestions") == [(True,), (False,), (True,)], broker.said("WatchQuestions")
            asks(broker, 8, "org.example.Vouched", 9, vouched=True, program="")
            buttons.press(buttons.wait("org.example.Vouched"), "Allow")
            broker.wait("AnswerQuestion", (8, "allow"))


@claim("what the permission store denies the broker is told, again at each change, also where it changes before it has said it, each time; "
       "the store's end changes nothing")
def permission_store():
    with Bus() as bus, FalseBroker() as broker, agent(broker, bus):
        broker.wait("ListUse")
        with Store(bus, org_denied=["no"], org_allowed=["yes"], org_asked=["ask"]) as store:
            broker.wait("SetDenied", (["org.denied"],))
            # The empty key stands for programs outside a sandbox, and names no app.
            store.set({"": ["no"], "org.b": ["no"], "org.a": ["no"], "org.none": []})
            broker.wait("SetDenied", (["org.a", "org.b"],))
            store.set({f"org.app{number:05}": ["no"] for number in range(10_000)})
            broker.wait("SetDenied", ([f"org.app{number:05}" for number in range(1024)],))
            # Wrong types change nothing either.
            store.nonsense["Lookup"] = ("i", (5,))
            looked = store.looked
            store.set({"org.c": ["no"]})
            wait_until("the nonsense to be read", lambda: store.looked > looked)
        said = len(broker.said("SetDenied"))
        with Store(bus) as empty:
            broker.wait("SetDenied", ([],))
            assert len(broker.said("SetDenied")) == said + 1, broker.said("SetDenied")[said:]
            # It changes each time before it has said what it has, and takes longer than camagent lets changes settle: that counts, too.
            empty.restless = 0.2
            empty.set({"org.d": ["no"]})
            broker.wait("SetDenied", (["org.d"],))
            looked = empty.looked
            wait_until("it to be asked again", lambda: empty.looked > looked + 2)
            assert broker.said("SetDenied")[-2:] == [([],), (["org.d"],)], broker.said("SetDenied")
        broker.stop()
        broker.calls = []
        broker.start()
        broker.wait("SetDenied", (["org.d"],))


@claim("a user's no to an app reaches the broker however much waits for it, before all of that, and no yes takes its place")
def no_is_kept():
    with (Bus() as bus, Watcher(bus) as watcher, Notifications(bus, "actions") as server, Store(bus) as store,
          FalseBroker() as broker, agent(broker, bus)):
        broker.wait("WatchQuestions", (True,))
        broker.uses(HELD)
        with panel(bus, watcher) as face:
            broker.holds = {"StopApp"}
            face.click(face.line("Stop red"))
            broker.wait("StopApp")
            asks(broker, 7, "Zoom")
            asked = server.wait("“Zoom”")
            # It hears what camagent hears: what has come here, the bus has sent there, too.
            with open_dbus_connection(bus=bus.address, auth_timeout=PATIENCE) as listener:
                listener.send_and_get_reply(
                    new_method_call(BUS, "AddMatch", "s", ("type='signal',member='ActionInvoked'",)), timeout=PATIENCE)
                # More than may wait, of which some may be refused.
                for line in [face.line(ON), face.line("Stop red")] * 40:
                    with contextlib.suppress(Refused):
                        face.click(line)
                for label in ("Allow", "Deny", "Allow"):
                    server.press(asked, label)
                pressed = 0
                while pressed < 3:
                    pressed += listener.receive(timeout=PATIENCE).header.fields[HeaderFields.member] == "ActionInvoked"
            # And camagent has read it, when it answers what came behind it.
            face.lines()
            store.set({"org.denied": ["no"]})
            broker.release()
            broker.wait("AnswerQuestion")
            broker.wait("SetDenied", (["org.denied"],))
            broker.wait("SetOwnPrivacy", (True,))
            assert broker.said("AnswerQuestion") == [(7, "deny")], broker.said("AnswerQuestion")
            said = [member for member, _ in broker.calls]
            assert said[said.index("StopApp") + 1] == "AnswerQuestion", said


@claim("a desktop that answers with nonsense, and a program that floods the bus, cost camagent neither its life nor its work")
def hostile_desktop():
    with Bus() as bus, Watcher(bus) as watcher, FalseBroker() as broker:
        with Notifications(bus, "actions") as server, agent(broker, bus) as face:
            broker.wait("WatchQuestions", (True,))
            server.nonsense = {"Notify": ("s", ("no number",)), "GetCapabilities": ("ai", ([1, 2],))}
            asks(broker, 1, "red")
            server.wait("“red”")
            broker.signal("QuestionEnded", "us", 1, "late")
            # A broker's nonsense ends that connection only.
            broker.uses(HELD)
            with panel(bus, watcher) as shown:
                (unique,) = shown.connection.send_and_get_reply(
                    new_method_call(BUS, "GetNameOwner", "s", (shown.item,)), timeout=PATIENCE).body
                assert unique.startswith(":"), unique
                item, properties = "/StatusNotifierItem", "org.freedesktop.DBus.Properties"
                for call in (
                        (item, ITEM, "Fly"), (item, "org.example.Other", "Activate", "ii", 0, 0),
                        ("/nowhere", ITEM, "Activate", "ii", 0, 0), (item, properties, "Get", "s", "x"),
                        (item, properties, "Get", "ss", ITEM, "x"),
                        (item, properties, "GetAll", "s", "org.example.Other"), (item, properties, "Set", "ssv", "a", "b", ("s", "c"))):
                    refused(lambda: shown.call(*call))
                for path in (item, "/MenuBar"):
                    (xml,) = shown.call(path, "org.freedesktop.DBus.Introspectable", "Introspect")
                    assert xml.count("<interface ") == 1 and "<method " in xml, xml
            # Longer than anything of a desktop's: that connection ends, and the next one is there soon.
            shout = open_dbus_connection(bus=bus.address, auth_timeout=PATIENCE)
            shout.send(new_method_call(
                DBusAddress("/MenuBar", watcher.items[-1], "com.canonical.dbusmenu"), "Event", "s", ("x" * (2 << 20),)))
            shout.close()
            gone = watcher.items[-1]
            wait_until("the next item", lambda: watcher.items and gone not in watcher.items)
            with Panel(bus, watcher.items[-1]) as shown:
                assert shown.line("Stop red"), shown.lines()
            face.ended()


@claim("without a session bus camagent says so once and does its work; what is switched off is neither shown nor asked")
def switched_off():
    class Nowhere:
        address = "unix:path=/nonexistent/bus"

    with FalseBroker() as broker, agent(broker, Nowhere) as face:
        broker.wait("ListUse")
        face.says("cannot connect to the session bus at /nonexistent/bus")
        broker.uses(HELD)
        cuts(broker, "red", cause="system-sleep")
        wait_until("the use to be read", lambda: len(broker.said("ListUse")) > 1)
    words = [f"--{part}=none" for part in ("indicator", "notifications", "questions", "permission-store")]
    with Bus() as bus, Watcher(bus) as watcher, Notifications(bus, "actions") as server, Store(bus, a=["no"]):
        # All but one of them are switched off, and the last one shows that it came so far.
        for on in range(len(words)):
            with FalseBroker() as broker, agent(broker, bus, *words[:on], *words[on + 1:]):
                broker.uses(use("front", "Front", "blue", own=True, waiting=[("red", time.time_ns() // 1000 - 9_000_000)]))

                def seen():
                    return [bool(watcher.items), len(server.shown) > (on > 1), (True,) in broker.said("WatchQuestions"),
                            bool(broker.said("SetDenied"))]

                wait_until(f"all but {words[on]} to be off", lambda: seen() == [at == on for at in range(len(words))])
            wait_until("the item to leave", lambda: not watcher.items)
    with FalseBroker() as broker, Bus() as bus, agent(broker, bus, *words) as face:
        face.says("microphones:")
        assert "session bus" not in face.said(), face.said()


@claim("where somebody else speaks for the user, camagent says what was refused once, and goes on asking")
def role_is_taken():
    with Bus() as bus, Notifications(bus, "actions"), FalseBroker() as broker:
        broker.refuses = {"ListUse", "WatchQuestions", "SetDenied"}
        with agent(broker, bus) as face:
            face.says("the broker refused to say which app has which camera: somebody else speaks")
            broker.wait("WatchQuestions", (True,))
            asks(broker, 1, "red")
            broker.refuses = set()
            wait_until("the next asking", lambda: broker.said("WatchQuestions").count((True,)) > 1)
            broker.signal("Displaced", "ss", "ask", "process 1 (terminal)")
            face.says("somebody else is asked about apps now")


@contextlib.contextmanager
def whole(bus):
    """A broker with a camera, and an agent that speaks for its user: it is asked, by a server with buttons."""
    with desk() as daemon, Notifications(bus, "actions", "body") as server, agent(daemon, bus):
        yield daemon, server


@claim("with a real broker an app's use is in the panel; it is stopped from there for good, and privacy counts for all its user's")
def real_use():
    with Bus() as bus, Watcher(bus) as watcher, whole(bus) as (daemon, _):
        red, session = daemon.running("red")
        with panel(bus, watcher) as face:
            stop = wait_until("red in the menu", lambda: face.line("Stop red"))
            assert any(label.startswith("red has ") and " since " in label for _, label in face.lines()), face.lines()
            face.click(stop)
            assert red.wait("SessionStopped")[2] == "stopped-by-user"
            wait_until("red to be gone", lambda: not watcher.items or face.line("Stop red") is None)
            session.runs()
        with panel(bus, watcher) as face:
            face.click(wait_until("the switch", lambda: face.line(ON)))
            red.is_interrupted("video-device-blocked-by-privacy")
            face.click(wait_until("privacy to be shown", lambda: face.line(OFF)))
            red.wait("InterruptionEnded")
        # Somebody else turns it, while no app asks for a camera.
        red.close()
        wait_until("nothing to be shown", lambda: not watcher.items)
        daemon.shell().call(SHELL, "SetOwnPrivacy", "b", True)
        with panel(bus, watcher) as face:
            wait_until("privacy to be shown", lambda: face.line(OFF))


@claim("with a real broker the user hears of a recording that was cut, and of an app that waits longer than five seconds")
def real_cut():
    with Bus() as bus, whole(bus) as (daemon, server):
        shell, red, blue = daemon.shell(), daemon.app("red"), daemon.app("blue")
        session, other = red.session(), blue.session()
        shell.place("red", "fullscreen", True)
        session.runs()
        session.records(daemon.directory / "red.mkv")
        other.start()
        shell.place("blue", "fullscreen", True)
        shell.place("red", "background")
        red.wait("RecordingFinished")
        told = server.wait("The recording of red")
        assert "What was recorded until then is kept" in told.body, told
        late = server.wait("red waits for ")
        assert "which blue has" in late.body and late.replaces == told.id, late
