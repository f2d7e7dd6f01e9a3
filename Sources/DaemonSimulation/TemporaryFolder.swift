import Glibc
import Loop

/// A folder of a run's own, which goes with it.
final class TemporaryFolder {
    let path: String
    /// Below it, in the order in which they were made.
    private var names: [String] = []

    init() throws(SystemFault) {
        var template = Array("/tmp/camarb-simulation-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw SystemFault("make a folder in /tmp", -errno) }
        path = made
    }

    deinit {
        // What is inside was made after what it is in.
        for name in ["socket"] + names.reversed() where unlink(path + "/" + name) != 0 { rmdir(path + "/" + name) }
        rmdir(path)
    }

    func makeFolder(_ name: String) throws(SystemFault) {
        names.append(name)
        if mkdir(path + "/" + name, 0o700) != 0 { throw SystemFault("make \(path)/\(name)", -errno) }
    }

    /// Makes the name stand for another file; what stood there goes.
    func link(_ name: String, to target: String) throws(SystemFault) {
        makeRoom(name)
        guard let whole = realpath(target, nil) else { throw SystemFault("find \(target)", -errno) }
        defer { free(whole) }
        if symlink(whole, path + "/" + name) != 0 { throw SystemFault("link to \(target)", -errno) }
    }

    func write(_ text: String, to name: String) throws(SystemFault) {
        // Not through a link, into the file that it names.
        makeRoom(name)
        let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFault("write \(path)/\(name)", -errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SystemFault("write \(path)/\(name)", -errno)
        }
    }

    private func makeRoom(_ name: String) {
        if !names.contains(name) { names.append(name) }
        unlink(path + "/" + name)
    }
}
