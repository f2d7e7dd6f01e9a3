"""Finds slates in pictures: reads their letters out of a luma plane, as a person would out of the picture."""
import functools, pathlib, re

import numpy

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT = 8, 16
# Dots of a letter that may be wrong: a picture may have been through a JPEG.
WRONG_MAX = 5


@functools.cache
def glyphs():
    text = (HERE / "../../libcamarb/slate-font.h").read_text()
    found = re.findall(r"\{0x(\w+), 0x(\w+)\}", text)
    letters = [chr(int(first, 16) + at) for first, count in re.findall(r"\{0x(\w+), (\d+)\}", text) for at in range(int(count))]
    assert len(letters) == len(found) > 400, "the font's header is not as it was"
    rows = numpy.array([list(bytes.fromhex(upper.zfill(16) + lower.zfill(16))) for upper, lower in found], numpy.uint8)
    return letters, numpy.unpackbits(rows, axis=1).astype(numpy.int16)


def sign(luma, width, height):
    """Where a slate has letters, and where its sign is, which is neither they nor the ground."""
    picture = numpy.frombuffer(luma, numpy.uint8, width * height).reshape(height, width)
    letters = picture > 150
    return letters, ~letters & (picture != picture[0, 0])


# The same slate comes again and again, and is to be read as fast as it comes.
@functools.lru_cache(maxsize=8)
def read(luma, width, height):
    """The text in a picture, lines joined by spaces; "" where there is none."""
    side = max(1, min(width // 320, height // 180))
    margin = 0 if width < 320 else WIDTH * side
    picture = numpy.frombuffer(luma, numpy.uint8, width * height).reshape(height, width)
    lit = picture > 150
    letters, known = glyphs()
    columns, line = (width - 2 * margin) // (WIDTH * side), HEIGHT * side
    best = ""
    for parity in (0, 1):
        lines = height // line
        lines -= lines % 2 != parity
        top = (height - lines * line) // 2
        text = []
        for row in range(lines):
            # The middle of each dot.
            band = lit[top + row * line + side // 2:top + (row + 1) * line:side, margin + side // 2:margin + columns * WIDTH * side:side]
            cells = band.reshape(HEIGHT, columns, WIDTH).transpose(1, 0, 2).reshape(columns, HEIGHT * WIDTH).astype(numpy.int16)
            said = ""
            for cell in cells:
                wrong = numpy.abs(known - cell).sum(axis=1)
                at = int(wrong.argmin())
                said += letters[at] if wrong[at] <= WRONG_MAX else "\0"
            text.append(said.strip())
        whole = " ".join(part for part in text if part)
        if "\0" not in whole and len(whole) > len(best):
            best = whole
    return best
