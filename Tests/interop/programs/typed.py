"""An app in Python whose types are checked: prints the module's version and library, and what it has seen.

usage: typed.py FRAMES
"""
import sys
from typing import Optional, Tuple

import camarb

seen: int = 0
side: Tuple[int, int] = (0, 0)
with camarb.Client(app="org.example.Typed") as client, client.session(frameRate=15) as session:
    session.pictures = True
    session.start()
    while seen < int(sys.argv[1]) and client.wait(20):
        while event := client.next_event():
            if event.type is camarb.EventType.WAS_INTERRUPTED:
                print(event.reason, event.interrupter)
        frame: Optional[camarb.Frame] = session.next_frame()
        if frame:
            with frame:
                seen, side = seen + 1, (frame.width, frame.height)
print(camarb.__version__, camarb.version(), camarb.__file__)
print(seen, *side)
