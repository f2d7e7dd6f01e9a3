"""GNOME's own camera program, in a window on X11: it knows no broker, and has cameras from the desktop portal."""
import shutil

from browsers import Portal
from harness import Daemon, Skipped, claim, spawn
from pipewire_door import agent, doorway
import windows


class Desk(Portal):
    screen_options = {"size": f"{windows.WIDTH}x{windows.HEIGHT}"}


@claim("GNOME Snapshot through the portal shows the camera, a slate while another app has it, and the camera again")
def snapshot():
    if not shutil.which("snapshot"):
        raise Skipped("there is no GNOME Snapshot here, which Debian has since 13 (make/packages desktop installs it there)")
    with Desk() as portal, Daemon() as daemon, agent(daemon, portal):
        doorway(portal)
        log = portal.directory / "snapshot.log"
        with spawn("snapshot", env={**portal.environment(), "GDK_BACKEND": "x11", "LIBGL_ALWAYS_SOFTWARE": "1"}, log=log) as process:
            try:
                windows.interrupt(daemon, windows.watching(portal.screen, process, log))
            finally:
                process.kill()
