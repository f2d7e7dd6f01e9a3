"""What a broker of an attacker's may make a shell do in which somebody presses Tab."""
import pathlib, tempfile

import shells
from rows import NEIGHBOUR, Figure, row


@row("completion", "pressing Tab behind camclient runs nothing and offers plain words only, whoever's broker answers",
     "a broker whose cameras are called what bash, zsh or fish would run, behind --camera and as a word, by CAMARB_SOCKET and --address, "
     "for another user", True, False)
def completion(short):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        shells.installed(folder)
        pathlib.Path(folder).chmod(0o755)
        pathlib.Path(home).chmod(0o777)
        mark = pathlib.Path(home, "ran")
        words = shells.hostile_words(mark)
        ran, offered, right, tried = 0, 0, 0, 0
        # Together, behind each line; and each alone, since a word that a shell takes for nonsense keeps it from the others.
        for names, lines in [(words, None), *(([word], ["camclient record --camera "]) for word in ([] if short else words))]:
            for shell, line, said in shells.completing(folder, mark, names, user=NEIGHBOUR, lines=lines):
                tried += 1
                ran += mark.exists()
                mark.unlink(missing_ok=True)
                offered += sum(word in said for word in names) if shell == "bash" else str(mark) in said[0]
                right += shells.PLAIN in said if shell == "bash" else shells.PLAIN in said[0]
        yield f"hostile names: {len(words)}, in bash, zsh and fish"
        yield Figure("lines behind which something ran", ran, f"of {tried}", most=0)
        yield Figure("hostile words offered", offered, most=0)
        yield Figure("lines behind which the plain camera was offered", right, f"of {tried}", least=tried)
