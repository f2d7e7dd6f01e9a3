"""Programs that were built against an earlier libcamarb.so.1 run with the present one: its structures, its symbols, and one such program.

abi/camarb.h is the header of then. Where the library is allowed to change (the reserved fields), nothing of then looks.
"""
import re

from harness import ROOT, Daemon, Folder, claim, ran
from parity import BUILD, built

HERE = ROOT / "Tests" / "interop" / "abi"
THEN, NOW = HERE, ROOT / "clients" / "libcamarb"


def declared():
    """The functions, the fields of structures, and the constants of then."""
    header = (THEN / "camarb.h").read_text()
    fields = []
    for body, name in re.findall(r"^typedef struct \w+ {\n(.*?)^} (\w+);", header, re.S | re.M):
        fields.append((name, None))
        # Of `a, b[4]` each; a pointer's type may end in a star.
        fields += [(name, field) for field in re.findall(r"[\s*](\w+)(?:\[\w+\])?(?=[,;])", body) if not field.startswith("reserved")]
    constants = re.findall(r"^#define (CAMARB_\w+) \S", header, re.M)
    for body in re.findall(r"^enum \w+ {\n(.*?)^};", header, re.S | re.M):
        constants += re.findall(r"(CAMARB_\w+)", body)
    return re.findall(r"(camarb_\w+)\(", header), fields, [name for name in constants if name != "CAMARB_API"]


def measured(folder, header, fields, constants):
    """What a compiler makes of them with this header."""
    lines = [f'#include "{header / "camarb.h"}"', "#include <stdio.h>", "#define SIZE(t, f) sizeof(((t *)0)->f)", "int main(void) {"]
    for name, field in fields:
        lines.append(f'    printf("{name} %zu\\n", sizeof({name}));' if field is None else
                     f'    printf("{name}.{field} %zu of %zu\\n", offsetof({name}, {field}), SIZE({name}, {field}));')
    lines += [f'    printf("{name} %llu\\n", (unsigned long long)({name}));' for name in constants]
    probe = folder / f"probe-{header.name}.c"
    probe.write_text("\n".join([*lines, "}"]) + "\n")
    ran("gcc", "-Wall", "-Werror", probe, "-o", probe.with_suffix(""))
    return ran(probe.with_suffix("")).stdout.splitlines()


@claim("a program that was built against an earlier libcamarb.so.1 runs unchanged: symbols, structures and constants are where they were")
def abi():
    built()
    functions, fields, constants = declared()
    assert len(functions) > 50 and len(fields) > 80 and len(constants) >= 40, (len(functions), len(fields), len(constants))
    exported = set(re.findall(r"\bT (camarb_\w+)@@CAMARB_1$", ran("nm", "-D", "--defined-only", BUILD / "libcamarb.so.1").stdout, re.M))
    assert set(functions) <= exported, f"{set(functions) - exported} is gone"
    with Folder() as folder, Daemon(cameras=("back=simulated:iphone6s-back", "front=simulated:iphone6s-front")) as daemon:
        then, now = (measured(folder, header, fields, constants) for header in (THEN, NOW))
        moved = [f"{one} then, {other} now" for one, other in zip(then, now, strict=True) if one != other]
        assert not moved, "\n".join(moved)
        program = folder / "program"
        ran("gcc", "-Wall", "-Wextra", "-Werror", f"-I{THEN}", THEN / "program.c", BUILD / "libcamarb.so.1", f"-Wl,-rpath,{BUILD}", "-o",
            program)
        said = ran(program, daemon.path, folder).stdout.splitlines()
        assert said == [
            "back back here: 420v 1280x720@30 to 420f 4032x3024@30, zoom 141.75, 4032x3024 stills; videoMirrored; activeFormat",
            "front front here: 420v 1280x720@30 to 420f 1280x960@60, zoom 45, 2576x1932 stills; videoMirrored; activeFormat",
            "2 photos, frames: enough"], said
    return f"{len(functions)} functions, {len(fields)} fields and sizes, {len(constants)} constants"
