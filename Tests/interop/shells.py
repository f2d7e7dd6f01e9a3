"""What shells offer behind a command that is being typed: bash, zsh and fish, with the files that the installation brings them."""
import fcntl, os, pathlib, pty, select, termios, time

from false_broker import FalseBroker
from harness import PATIENCE, PROGRAMS, ROOT, Skipped, die_with_parent, ran, spawn, wait_until

FRAMEWORK = "/usr/share/bash-completion/bash_completion"


def installed(folder, prefix="/usr"):
    ran(ROOT / "packaging" / "install", "--destdir", folder, "--prefix", prefix, "--programs", PROGRAMS, timeout=120)


class Shells:
    """The three, for what is installed in a folder, as one user."""

    def __init__(self, folder, user=None, **environment):
        missing = [path for path in (FRAMEWORK, "/usr/bin/zsh", "/usr/bin/fish") if not os.path.exists(path)]
        if missing:
            raise Skipped(f"there is no {', no '.join(missing)} here (make/packages test installs them)")
        self.folder, self.user = folder, user
        share = f"{folder}/usr/share"
        self.environment = {"HOME": str(folder), "PATH": f"{folder}/usr/bin:/usr/bin:/bin", "TERM": "dumb", "XDG_DATA_DIRS": share,
                            **environment}
        self.files = [pathlib.Path(share, file) for file in (
            "bash-completion/completions/camclient", "zsh/vendor-completions/_camclient", "fish/vendor_completions.d/camclient.fish")]
        # Where it is missing, fish fills it from all manual pages, in the background and for longer than the folder is there.
        self.said("mkdir", "-p", f"{folder}/.local/share/fish/generated_completions")

    def said(self, *command):
        return ran(*command, status=None, user=self.user, env=self.environment, cwd=self.folder, timeout=PATIENCE).stdout.splitlines()

    def bash(self, line):
        """The words that bash offers at the end of a line."""
        words = line.split(" ")
        return self.said("bash", "--norc", "-c", f". {FRAMEWORK}; . {self.files[0]}; COMP_WORDS=({' '.join(words[:-1])} '{words[-1]}'); "
                         f"COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}; "
                         f"_camclient {words[0]} '{words[-1]}' {words[-2]}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")

    def fish(self, keys, answer):
        return self.typed(["fish", "-i"], keys, answer)

    def typed(self, program, keys, answer):
        """What a shell on a terminal shows after these keys, as far as the answer."""
        keeper, terminal = pty.openpty()

        def begin():
            die_with_parent()
            # The terminal is its own: fish ends at once where it is nobody's.
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        shell = spawn(*program, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, env=self.environment,
                      cwd=self.folder, preexec_fn=begin, user=self.user)
        os.close(terminal)
        try:
            os.write(keeper, keys.encode())
            shown, end = b"", time.monotonic() + PATIENCE
            while answer not in shown.decode(errors="replace"):
                assert time.monotonic() < end, f"{program[0]} shows {shown!r}, and no “{answer}”"
                if select.select([keeper], [], [], 3)[0]:
                    shown += os.read(keeper, 4096)
                elif keys.endswith("\t"):
                    # The broker has half a second to answer a shell, which a busy machine may not give it.
                    os.write(keeper, b"\t")
            return shown.decode(errors="replace")
        finally:
            shell.kill()
            shell.wait()
            os.close(keeper)

    def zsh(self, keys, answer):
        return self.typed(["zsh", "-f", "-i"], f"fpath=({self.files[1].parent} $fpath); autoload -Uz compinit; compinit -u -D\n{keys}",
                          answer)


def hostile_words(mark):
    """What a broker may call its cameras so that a shell makes the file `mark`, in one shell or another. None has a slash but in
    the file's name, and some have no space."""
    run = f"touch {mark}"
    return [
        f"$({run})", f"$(>{mark})", f"`{run}`", f"`>{mark}`", f"({run})", f"<({run})", f"=({run})", f"${{x:=$({run})}}",
        f"$((x[$({run})]))", f"${{(e):-$({run})}}", f"a;{run}", f"a|{run}", f"a&{run}&", f"a&&{run}",
        f"a>{mark}", f"a\n{run}\n", f"a\n$({run})\nb",
        f"'$({run})'", f"\"$({run})\"", f"';{run};'", f"\";{run};\"", f"\\';{run};", f"$'\\x24({run})'", f"%{{$({run})%}}",
        f"a\t$({run})", f"a b$({run})", f"a:$({run})", f"a\r$({run})", f"--socket=$({run})", "--overwrite",
        "-x", "a*", "?", "[a-z]", "~root", "!!", "a{b,c}", "#a", "a\x1b[2Ja", "a\u202eb", "ä", "",
    ]


PLAIN = "front-1.a:2_3"


def completing(folder, mark, words, user=None, names=("bash", "fish", "zsh"), lines=None):
    """Asks the shells of a user for the cameras of a broker that has these, and one that is called plainly: yields each shell's name,
    a line, and what bash offers behind it, or a terminal with fish or zsh shows."""
    with FalseBroker() as broker:
        broker.directory.chmod(0o755)
        broker.path.chmod(0o777)
        broker.cameras = [*words, PLAIN]
        shells = Shells(folder, user, CAMARB_SOCKET=str(broker.path))
        for line in lines or ("camclient record --camera ", f"camclient formats --address {broker.path} ", "camclient formats "):
            for name in names:
                if name == "bash":
                    said = wait_until(f"bash to offer a camera behind “{line}”", lambda: (found := [
                        word for word in shells.bash(line) if not word.startswith("-") or word in words]) and (
                            PLAIN in found or mark.exists()) and found)
                else:
                    said = [(shells.fish if name == "fish" else shells.zsh)(f"{line}\t", PLAIN)]
                yield name, line, said
