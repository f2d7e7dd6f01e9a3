"""Programs that mean no harm to anybody but themselves, through the V4L2 door."""
import os, re

from harness import ROOT, ran
from rows import Figure, attack

CLIENTS = ROOT / "clients" / "v4l2"


@attack("wrong-pointers", "a request to a camera of the V4L2 door whose pointer leads nowhere is EFAULT, as from the kernel, and ends no "
        "program", "every request there is, with pointers to nothing, to what may not be read or written, and across the end of memory")
def wrong_pointers(daemon):
    ran("make", "--silent", "-C", CLIENTS, ".build/odd", ".build/libcamarb.so.1", "all", timeout=600)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CAMARB_")}
    environment |= {"CAMARB_V4L2": "force", "LD_PRELOAD": str(CLIENTS / ".build" / "libcamarb-v4l2.so"),
                    "CAMARB_SOCKET": str(daemon.path), "CAMARB_ADDRESS": daemon.address, "XDG_RUNTIME_DIR": str(daemon.directory)}
    done = ran(CLIENTS / ".build" / "odd", "nowhere", status=None, env=environment)
    yield Figure("programs that ended by a signal", int(done.returncode < 0), most=0)
    said = re.match(r"(\d+) calls, all as it should be", done.stdout)
    assert said, done.stdout + done.stderr
    yield Figure("requests that were refused so, of those that were made", int(said[1]), least=200)
    yield "and the next picture came"
