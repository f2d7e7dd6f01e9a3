"""`camclient apps`: which programs use cameras, by which door, and the user's list that the V4L2 door reads."""
import json, os, pathlib, shutil, subprocess, tempfile

from harness import PATIENCE, PROGRAMS, ROOT, as_other, claim

# Nobody in particular; root has other commands.
USER = 61234


class Home:
    """A user's folders with programs of his own: what he starts finds these and no others."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="camarb-doors.")
        self.root = pathlib.Path(self.folder.name)
        self.bin, self.data = self.root / "bin", self.root / "data" / "applications"
        self.list = self.root / "config" / "camarb" / "apps"
        for folder in (self.bin, self.data, self.root / "config"):
            folder.mkdir(parents=True)
        # Reached by a descriptor: the checkout may be where other users cannot look.
        self.program = os.open(PROGRAMS / "camclient", os.O_RDONLY)
        return self

    def __exit__(self, *_):
        os.close(self.program)
        self.folder.cleanup()

    def built(self, name, *flags, text="int main(void) { return 0; }"):
        source = self.root / f"{name}.c"
        source.write_text(text)
        subprocess.run(["gcc", "-o", self.bin / name, source, *flags], check=True, timeout=PATIENCE)
        return self.bin / name

    def script(self, name, text):
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def desktop(self, id, **keys):
        (self.data / f"{id}.desktop").write_text(
            "[Desktop Entry]\nType=Application\n" + "".join(f"{key.replace('_', '-')}={value}\n" for key, value in keys.items())
            + "[Desktop Action other]\nExec=other\n")

    def owned(self):
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)

    def apps(self, *words, status=0, user=USER):
        self.owned()
        environment = {
            "HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root / "config"), "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_DATA_DIRS": str(self.root), "PATH": str(self.bin), "LC_ALL": "C.UTF-8", "COLUMNS": "200",
        }
        done = subprocess.run(
            [f"/proc/self/fd/{self.program}", "apps", *words], env=environment, pass_fds=[self.program],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE * 2, **as_other(user))
        assert done.returncode == status, f"apps {words} ended with {done.returncode}, not {status}: {done.stdout}{done.stderr}"
        return done

    def listed(self):
        return {row["program"]: row for row in map(json.loads, self.apps("--json").stdout.splitlines())}


@claim("camclient apps lists programs that use cameras by what their files and desktops say, and none that do not")
def list_programs():
    with Home() as home:
        home.built("viewer", text='#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }')
        home.built("plain")
        home.built("meeting")
        home.built("lonely", "-static", text='#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }')
        home.built("mighty", text='#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }').chmod(0o4755)
        home.built("cheese")
        home.built("asking", "-I", ROOT / "clients/libcamarb", "-L", ROOT / "clients/.build", "-lcamarb",
                   text="#include <camarb.h>\nint main(void) { return camarb_version() == 0; }")
        home.script("seer", "#!/usr/bin/python3 -B\nimport cv2\ncv2.VideoCapture(0)\n")
        home.script("google-chrome", "#!/bin/sh\nexec /opt/google/chrome/chrome\n")
        home.desktop("org.example.Meeting", Name="Meeting", Exec="meeting %U", Categories="Network;VideoConference;")
        home.desktop("org.example.Boxed", Name="Boxed", Exec="/usr/bin/flatpak run org.example.Boxed", Keywords="Webcam;")
        home.desktop("org.example.Plain", Name="Plain", Exec="plain", Comment="Counts sheep")
        # A set-user-id bit does not survive a change of the owner.
        home.owned()
        (home.bin / "mighty").chmod(0o4755)
        home.owned = lambda: None
        found = home.listed()
        doors = {name: (row["v4l2"], row["outOfReach"], row["runsAs"], row["pipewire"], row["camarb"]) for name, row in found.items()}
        assert doors == {
            "viewer": ("off", None, None, False, False), "meeting": ("off", None, None, False, False),
            "cheese": ("off", None, None, False, False), "lonely": ("none", "static", None, False, False),
            "mighty": ("none", "setuid, or with capabilities of its own", None, False, False),
            "asking": ("none", None, None, False, True), "seer": ("off", None, "python3", False, False),
            "chrome": ("off", None, None, True, False),
            "org.example.Boxed": ("none", "sandboxed by flatpak", None, True, False),
        }, doors
        assert found["viewer"]["reasons"] == ["names /dev/video"] and found["cheese"]["reasons"] == ["known by name"], found
        assert found["meeting"]["desktop"] == "org.example.Meeting", found["meeting"]
        text = home.apps().stdout
        assert "V4L2 door off" in text and "none: static" in text and "PipeWire door" in text, text


@claim("camclient apps on and off edit the user's list as the door reads it, and leave remarks where they are")
def edit_list():
    with Home() as home:
        program = home.built("viewer", text='#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }')
        home.desktop("org.example.Viewer", Name="Viewer", Exec="viewer", Keywords="camera;")
        said = home.apps("on", "viewer").stderr
        assert "next login" in said, said
        assert home.list.read_text() == "viewer\n" and home.listed()["viewer"]["v4l2"] == "on"
        home.list.write_text("# mine\n  viewer  \n\nother\n")
        home.apps("on", "viewer", "org.example.Viewer", str(program))
        assert home.list.read_text() == "# mine\n  viewer  \n\nother\n", "what is on was written again"
        home.apps("off", "org.example.Viewer")
        assert home.list.read_text() == "# mine\n\nother\n", home.list.read_text()
        # By the path, behind a link: the door compares it with where the program lies.
        (home.bin / "link").symlink_to(program)
        home.apps("on", str(home.bin / "link"))
        assert home.list.read_text() == f"# mine\n\nother\n{os.path.realpath(program)}\n"
        home.apps("off", "viewer")
        assert home.list.read_text() == "# mine\n\nother\n"
        home.apps("on", "--all")
        assert home.list.read_text() == "# mine\n\nother\n*\n" and home.listed()["viewer"]["v4l2"] == "on"
        said = home.apps("off", "viewer", status=1).stderr
        assert "by the line *" in said, said
        home.apps("off", "--all")
        assert home.list.read_text() == "# mine\n\n" and home.listed()["viewer"]["v4l2"] == "off"
        # A list that lies elsewhere stays there.
        elsewhere = home.root / "settings"
        elsewhere.write_text("")
        home.list.unlink()
        home.list.symlink_to(elsewhere)
        home.apps("on", "viewer")
        assert home.list.is_symlink() and elsewhere.read_text() == "viewer\n"
        assert sorted(path.name for path in home.list.parent.iterdir()) == ["apps"], "something is left beside the list"


@claim("camclient apps refuses what the door cannot be put before, with a sentence, and changes nothing")
def refusals():
    with Home() as home:
        home.built("lonely", "-static")
        home.script("seer", "#!/usr/bin/python3\n")
        for words, status, says in (
                (["lonely"], 1, "it is static"), (["seer"], 1, "a script of python3"), (["*"], 2, "For all: --all"),
                (["#x"], 2, "cannot stand in the list"), (["a\nb"], 2, "cannot stand in the list"), ([], 2, "Name programs"),
                (["x", "--all"], 2, "Name programs"), ([str(home.bin / "absent")], 5, "cannot be found")):
            said = home.apps("on", *words, status=status).stderr
            assert says in said, said
            assert not home.list.exists() or home.list.read_text() == "", f"{words} changed the list"
        # What is not installed may be on before it is.
        assert "not in $PATH" in home.apps("on", "later").stderr
        assert home.list.read_text() == "later\n"
        # A folder that cannot be written says so.
        home.apps("off", "--all")
        shutil.rmtree(home.list.parent)
        home.list.parent.write_text("")
        assert "Not a directory" in home.apps("on", "later", status=5).stderr


@claim("of two that change the list at once neither loses the other's change")
def at_once():
    with Home() as home:
        home.owned()
        environment = {"HOME": str(home.root), "XDG_CONFIG_HOME": str(home.root / "config"), "PATH": str(home.bin),
                       "XDG_DATA_DIRS": str(home.root)}
        running = [subprocess.Popen([f"/proc/self/fd/{home.program}", "apps", "on", f"app{number}"], env=environment,
                                    pass_fds=[home.program], stderr=subprocess.DEVNULL, **as_other(USER))
                   for number in range(8)]
        assert [process.wait(timeout=PATIENCE * 2) for process in running] == [0] * 8
        assert sorted(home.list.read_text().split()) == [f"app{number}" for number in range(8)], home.list.read_text()


@claim("root, whom the door never serves, is told that a list of root's would say nothing")
def root_is_not_served():
    with Home() as home:
        for command in ("on", "off"):
            said = home.apps(command, "viewer", status=2, user=0).stderr
            assert "never on for root" in said and "--all" in said, said
        assert not home.list.exists()
