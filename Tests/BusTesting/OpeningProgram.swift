import Glibc
package import System

/// A file, and a program that has it open, for a test whose own process may not: another thread that starts a child at
/// that moment gives it a copy, and the kernel tells of a close only when the last copy is closed.
package final class OpeningProgram {
    private let ours: Int32
    private let child: ChildProcess
    private let file: Scratch
    private var free = Array(4...7)

    package var path: String { file.path }

    package init(on loop: EventLoop) throws {
        file = try Scratch("")
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemFault("make a pair of sockets", errno) }
        ours = ends[0]
        defer { Glibc.close(ends[1]) }
        // A shell without a child of its own, ended by the end of what it reads.
        child = try ChildProcess(
            path: "/bin/sh",
            arguments: ["-c", "file=\(file.path); while read -r line <&3; do eval \"$line\"; echo >&3; done"],
            passing: ends[1], on: loop
        ) { _ in }
    }

    deinit { Glibc.close(ours) }

    package func open() throws -> Int {
        let number = free.removeLast()
        try run("exec \(number)<$file")
        return number
    }

    package func close(_ number: Int) throws {
        free.append(number)
        try run("exec \(number)<&-")
    }

    package func openAndClose(times: Int) throws {
        try run("i=0; while [ $i -lt \(times) ]; do exec 8<$file; exec 8<&-; i=$((i + 1)); done")
    }

    private func run(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        var answer: UInt8 = 0
        guard send(ours, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count, recv(ours, &answer, 1, 0) == 1 else {
            throw WaitedInVain(description: "the program that opens the file has ended")
        }
    }
}
