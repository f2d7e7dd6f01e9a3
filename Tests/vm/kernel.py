"""Debian's stock kernel and a first root file system for the guest, kept in .build-vm between runs.

The kernel's package is downloaded and unpacked, never installed: this machine boots what it boots.
"""
import contextlib, fcntl, gzip, lzma, os, pathlib, shutil, struct, subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("CAMARB_VM_CACHE", ROOT / ".build-vm"))
# Debian's name for "the present kernel of this release"; the package it depends on has the version in its name.
META_PACKAGE = "linux-image-amd64"
# What the guest needs before it sees the host's files; everything else it loads from there by itself.
EARLY_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio-rng")


class NotToBeHad(Exception):
    """The guest cannot be had here, and why; no fault of the project's."""


class Mistake(Exception):
    """What was asked for cannot be meant, and why."""


def say(text):
    print(f"   {text}", flush=True)


def ran(*command, timeout=60, cwd=None):
    """How a command ended and what it said; one that cannot be had, or takes too long, ended with 127."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout, cwd=cwd)
    except OSError as why:
        return subprocess.CompletedProcess(command, 127, f"{command[0]}: {why.strerror}")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 127, f"{command[0]} took more than {timeout} s")


@contextlib.contextmanager
def alone():
    """One run prepares the kernel, and others wait for it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def package_name():
    """The kernel's package, as the package lists name it today; None when they do not."""
    for line in ran("apt-cache", "depends", META_PACKAGE).stdout.splitlines():
        words = line.split()
        if words[:1] == ["Depends:"] and words[1].startswith("linux-image-"):
            return words[1]
    return None


def refresh_lists():
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    say("asking apt for fresh package lists")
    done = ran(*as_root, "apt-get", "-q", "update", timeout=300)
    return done.returncode == 0


def unpacked():
    """The folder with the unpacked kernel: the newest that the package lists know, else one from an earlier run."""
    kernels = CACHE / "kernel"
    why = f"the package lists have no {META_PACKAGE}"
    for is_fresh in (lambda: True, refresh_lists):
        if not is_fresh():
            break
        if name := package_name():
            why = "" if (kernels / name / "unpacked").exists() else download(name, kernels / name)
            if not why:
                return kernels / name
    earlier = sorted(folder for folder in kernels.glob("*") if (folder / "unpacked").exists())
    if not earlier:
        raise NotToBeHad(f"no kernel for the guest: {why}")
    say(f"{why}; the kernel of an earlier run is used: {earlier[-1].name}")
    return earlier[-1]


def download(name, folder):
    """Downloads and unpacks the package; returns why it failed, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    say(f"downloading {name}, 70 MB, once")
    # The user `_apt` cannot write here; as this user apt downloads all the same.
    done = ran("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", name, cwd=folder, timeout=600)
    packages = list(folder.glob("*.deb"))
    if done.returncode != 0 or not packages:
        last = done.stdout.strip().splitlines()[-1:] or ["no reason given"]
        return f"{name} could not be downloaded ({last[0]})"
    done = ran("dpkg-deb", "-x", str(packages[0]), str(folder), timeout=300)
    if done.returncode != 0:
        return f"{name} could not be unpacked ({done.stdout.strip()[-200:]})"
    packages[0].unlink()
    for earlier in folder.parent.iterdir():
        if earlier != folder:
            shutil.rmtree(earlier, ignore_errors=True)
    (folder / "unpacked").touch()
    return ""


def modules(folder):
    """The kernel's modules: `lib/modules/VERSION`, wherever this release of Debian puts `lib`."""
    for at in ("lib/modules", "usr/lib/modules"):
        for found in (folder / at).glob("*"):
            return found
    raise NotToBeHad(f"{folder.name} has no modules where they are expected")


def image(folder):
    """The kernel to boot. Taken out of its compressed image it boots in five seconds under emulation, not in eight."""
    plain = folder / "vmlinux"
    if plain.exists():
        return plain
    packed = next((folder / "boot").glob("vmlinuz-*"), None)
    if packed is None:
        raise NotToBeHad(f"{folder.name} has no kernel image in /boot")
    data = packed.read_bytes()
    setup_sectors = data[0x1F1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    kernel = decompressed(data[start:start + length])
    if kernel is None:
        return packed  # The kernel unpacks itself, only later.
    draft = plain.with_suffix(".new")
    draft.write_bytes(kernel)
    draft.rename(plain)
    return plain


def decompressed(payload):
    """What a kernel's image has inside: packed by xz in Debian 12, by Zstandard since 13. None where it cannot be unpacked."""
    try:
        return lzma.LZMADecompressor().decompress(payload)
    except lzma.LZMAError:
        pass
    try:
        # Behind what is packed stands its size, in four bytes.
        return subprocess.run(["zstd", "--decompress", "--stdout"], input=payload[:-4], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def initramfs(folder):
    """A root file system of busybox, the early modules and guest/init, which mounts the real one."""
    busybox = next((path for path in ("/usr/bin/busybox", "/bin/busybox") if os.path.exists(path)), None)
    if busybox is None:
        raise NotToBeHad("busybox-static is not installed")
    lib = modules(folder)
    if not (lib / "modules.dep").exists():
        done = ran("/sbin/depmod", "-b", str(lib.parents[2]), lib.name, timeout=120)
        if done.returncode != 0:
            raise NotToBeHad(f"depmod failed: {done.stdout.strip()[-200:]}")
    files = [("init", 0o755, (pathlib.Path(__file__).parent / "guest" / "init").read_bytes()),
             ("bin/busybox", 0o755, pathlib.Path(busybox).read_bytes())]
    order = []
    for path in load_order(lib, EARLY_MODULES):
        data = (lib / path).read_bytes()
        if path.endswith(".xz"):
            data = lzma.decompress(data)
        name = path.rsplit("/", 1)[-1].removesuffix(".xz")
        order.append(name)
        files.append((f"mods/{name}", 0o644, data))
    files.append(("mods/order", 0o644, ("\n".join(order) + "\n").encode()))
    out = folder / "initramfs.gz"
    packed = gzip.compress(archive(files), 1, mtime=0)
    if not out.exists() or out.read_bytes() != packed:
        out.write_bytes(packed)
    return out


def load_order(lib, names):
    """The files of the modules and of what they need, each after what it needs."""
    needs = {}
    for line in (lib / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[path] = rest.split()
    by_name = {path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_"): path for path in needs}
    order = []
    for name in names:
        path = by_name.get(name.replace("-", "_"))
        if path is None:
            continue  # Built into the kernel.
        for each in [*reversed(needs[path]), path]:
            if each not in order:
                order.append(each)
    return order


def archive(files):
    """A cpio archive in the kernel's `newc` format."""
    out = bytearray()

    def add(name, mode, data):
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out.extend(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
        out.extend(b"\0" * (-len(out) % 4))
        out.extend(data)
        out.extend(b"\0" * (-len(out) % 4))

    for folder in ("bin", "dev", "proc", "sys", "mods", "lower", "rw", "newroot"):
        add(folder, 0o040755, b"")
    for name, mode, data in files:
        add(name, 0o100000 | mode, data)
    add("TRAILER!!!", 0, b"")
    return bytes(out)
