"""Debian's stock kernel and a first root file system for the guest, kept in .build-vm between runs.

The kernel's package is downloaded and unpacked, never installed: this machine boots what it boots.
"""
import contextlib, fcntl, gzip, lzma, os, pathlib, re, shutil, struct, subprocess, tempfile

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
    found = re.search(r"Depends: (linux-image-\S+)", ran("apt-cache", "depends", META_PACKAGE).stdout)
    return found and found[1]


def refresh_lists():
    # As root, as which alone there is a guest.
    say("asking apt for fresh package lists")
    return ran("apt-get", "-q", "update", timeout=300).returncode == 0


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
    for found in (*folder.glob("lib/modules/*"), *folder.glob("usr/lib/modules/*")):
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
    with contextlib.suppress(lzma.LZMAError):
        return lzma.LZMADecompressor().decompress(payload)
    # Behind what is packed stands its size, in four bytes.
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(["zstd", "--decompress", "--stdout"], input=payload[:-4], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=60, check=True).stdout
    return None


def initramfs(folder):
    """A root file system of busybox, the early modules and guest/init, which mounts the real one."""
    busybox = shutil.which("busybox", path="/usr/bin:/bin")
    if busybox is None:
        raise NotToBeHad("busybox-static is not installed")
    lib = modules(folder)
    if not (lib / "modules.dep").exists():
        done = ran("/sbin/depmod", "-b", str(lib.parents[2]), lib.name, timeout=120)
        if done.returncode != 0:
            raise NotToBeHad(f"depmod failed: {done.stdout.strip()[-200:]}")
    out = folder / "initramfs.gz"
    with tempfile.TemporaryDirectory(dir=CACHE) as made:
        root = pathlib.Path(made)
        for name in ("bin", "dev", "proc", "sys", "mods", "lower", "rw", "newroot"):
            (root / name).mkdir()
        shutil.copy(pathlib.Path(__file__).parent / "guest" / "init", root / "init")
        shutil.copy(busybox, root / "bin" / "busybox")
        order = []
        for path in load_order(lib):
            order.append(path.name.removesuffix(".xz"))
            (root / "mods" / order[-1]).write_bytes((lzma.decompress if path.suffix == ".xz" else bytes)(path.read_bytes()))
        (root / "mods" / "order").write_text("\n".join(order) + "\n")
        # At once: another run's guest may be reading it.
        draft = root / "initramfs"
        draft.write_bytes(gzip.compress(archive(root, busybox), 1, mtime=0))
        draft.rename(out)
    return out


def load_order(lib):
    """The files of the early modules and of what they need, each after what it needs; what is built into the kernel has none."""
    said = [ran("/sbin/modprobe", "-C", "/dev/null", "-d", str(lib.parents[2]), "-S", lib.name, "--show-depends", name).stdout
            for name in EARLY_MODULES]
    return list(dict.fromkeys(pathlib.Path(path) for path in re.findall(r"^insmod (\S+)", "".join(said), re.MULTILINE)))


def archive(root, busybox):
    names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
    return subprocess.run([busybox, "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=60, check=True).stdout
