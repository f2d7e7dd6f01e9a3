"""`camclient apps`: which programs use cameras, by which door, and the user's list that the V4L2 door reads."""
import json, os, shutil

from harness import PATIENCE, PROGRAMS, ROOT, Folder, claim, ran, spawn

# Nobody in particular; root has other commands.
USER = 61234
SEES = '#include <stdio.h>\nint main(void) { return puts("/dev/video0") < 0; }'


class Home:
    """A user's folders with programs of his own: what he starts finds these and no others."""

    def __enter__(self):
        self.folder = Folder()
        self.root = self.folder.__enter__()
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
        ran("gcc", "-o", self.bin / name, source, *flags)
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

    def run(self, by, *words, **options):
        """Has `by` run camclient apps in this home."""
        return by(f"/proc/self/fd/{self.program}", "apps", *words, pass_fds=[self.program], env={
            "HOME": str(self.root), "XDG_CONFIG_HOME": str(self.root / "config"), "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_DATA_DIRS": str(self.root), "PATH": str(self.bin), "LC_ALL": "C.UTF-8", "COLUMNS": "200"}, **options)

    def apps(self, *words, status=0, user=USER):
        self.owned()
        return self.run(ran, *words, status=status, user=user)

    def listed(self):
        return {row["program"]: row for row in map(json.loads, self.apps("--json").stdout.splitlines())}

    def holds(self, text):
        assert self.list.read_text() == text, self.list.read_text()


@claim("camclient apps lists programs that use cameras by what their files and desktops say, and none that do not")
def list_programs():
    with Home() as home:
        home.built("viewer", text=SEES)
        for name in ("plain", "meeting", "cheese"):
            home.built(name)
        home.built("lonely", "-static", text=SEES)
        home.built("mighty", text=SEES)
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


@claim("camclient apps on and off edit the user's list as the door reads it, leave remarks where they are, and lose no change that another "
       "made at once")
def edit_list():
    with Home() as home:
        program, link = home.built("viewer", text=SEES), home.bin / "link"
        home.desktop("org.example.Viewer", Name="Viewer", Exec="viewer", Keywords="camera;")
        said = home.apps("on", "viewer").stderr
        assert "next login" in said, said
        home.holds("viewer\n")
        assert home.listed()["viewer"]["v4l2"] == "on"
        home.list.write_text(written := "# mine\n  viewer  \n\nother\n")
        link.symlink_to(program)
        for words, holds in (
                # What is on is not written again.
                (("on", "viewer", "org.example.Viewer", program), written), (("off", "org.example.Viewer"), "# mine\n\nother\n"),
                # By the path, behind a link: the door compares it with where the program lies.
                (("on", link), f"# mine\n\nother\n{os.path.realpath(program)}\n"), (("off", "viewer"), "# mine\n\nother\n"),
                (("on", "--all"), "# mine\n\nother\n*\n")):
            home.apps(*words)
            home.holds(holds)
        assert home.listed()["viewer"]["v4l2"] == "on"
        said = home.apps("off", "viewer", status=1).stderr
        assert "by the line *" in said, said
        home.apps("off", "--all")
        home.holds("# mine\n\n")
        assert home.listed()["viewer"]["v4l2"] == "off"
        # A list that lies elsewhere stays there.
        elsewhere = home.root / "settings"
        elsewhere.write_text("")
        home.list.unlink()
        home.list.symlink_to(elsewhere)
        home.apps("on", "viewer")
        assert home.list.is_symlink() and elsewhere.read_text() == "viewer\n"
        assert sorted(path.name for path in home.list.parent.iterdir()) == ["apps"], "something is left beside the list"
        # Of several that change it at once none loses another's change.
        running = [home.run(spawn, "on", f"app{number}", user=USER, log=os.devnull) for number in range(8)]
        assert [process.wait(timeout=PATIENCE * 2) for process in running] == [0] * 8
        assert sorted(elsewhere.read_text().split()) == sorted(["viewer", *(f"app{number}" for number in range(8))]), elsewhere.read_text()


@claim("camclient apps refuses what the door cannot be put before, and root, with a sentence, and changes nothing")
def refusals():
    with Home() as home:
        home.built("lonely", "-static")
        home.script("seer", "#!/usr/bin/python3\n")
        # Root, whom the door never serves, is told that a list of root's would say nothing.
        for command in ("on", "off"):
            said = home.apps(command, "viewer", status=2, user=0).stderr
            assert "never on for root" in said and "--all" in said and not home.list.exists(), said
        for words, status, says in (
                (["lonely"], 1, "it is static"), (["seer"], 1, "a script of python3"), (["*"], 2, "For all: --all"),
                (["#x"], 2, "cannot stand in the list"), (["a\nb"], 2, "cannot stand in the list"), ([], 2, "Name programs"),
                (["x", "--all"], 2, "Name programs"), ([home.bin / "absent"], 5, "cannot be found")):
            said = home.apps("on", *words, status=status).stderr
            assert says in said, said
            assert not home.list.exists() or home.list.read_text() == "", f"{words} changed the list"
        # What is not installed may be on before it is.
        assert "not in $PATH" in home.apps("on", "later").stderr
        home.holds("later\n")
        # A folder that cannot be written says so.
        home.apps("off", "--all")
        shutil.rmtree(home.list.parent)
        home.list.parent.write_text("")
        assert "Not a directory" in home.apps("on", "later", status=5).stderr
