"""Files of the library by themselves: programs of claims in C, which need no broker (units/)."""
import os, pathlib, subprocess

from harness import claim

# Of their own build, with the sanitizers in it.
FOLDER = pathlib.Path(os.environ["CAMARB_LIBRARY"]).parent / "units"


def unit(program):
    def holds():
        """Runs it; how many claims it had."""
        plain = {key: value for key, value in os.environ.items() if key not in ("ASAN_OPTIONS", "LD_PRELOAD")}
        done = subprocess.run([program], env=plain, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=600)
        assert done.returncode == 0, f"{program} ended with {done.returncode}: {done.stdout[-3000:]}"
        return done.stdout.splitlines()[-1] + " claims"
    return holds


for name, sentence in {
    "memory": "what a program is told over its brokers' ends is whole, numbered on, and said once",
    "stream": "frames come in order, within bounds, and go back; a slow reader delays nobody",
    "geometry": "previews and orientations are where AVFoundation has them",
}.items():
    claim(f"{sentence}: {name}.c by itself")(unit(FOLDER / name))
