package import Bus
import Foundation
package import System

package func socketPair() throws -> (Int32, Int32) { try UnixPair.make() }

/// A folder or a file of the test's own, gone with this object and all that is in it.
package final class Scratch: Sendable {
    package let path: String

    /// - Parameter text: what is in the file; nil: it is a folder.
    package init(_ text: String? = nil) throws {
        path = "/tmp/camarb-test-\(UUID().uuidString)"
        if let text {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file of the folder, and says where it is.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        return "\(path)/\(name)"
    }
}

/// Where the programs are that were built with the tests.
package let programsFolder: String = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)])
}()

package struct WaitedInVain: Error, CustomStringConvertible {
    package var description: String
}

extension EventLoop {
    /// Turns until the condition holds; fails the test after a minute, which no test comes near.
    package func turn(
        until condition: () -> Bool, _ what: String = "the condition", file: String = #fileID, line: Int = #line
    ) throws {
        // Long enough for a machine that has ten times as much to do as it has processors.
        let limit = EventLoop.now + 60_000_000_000
        while !condition() {
            guard EventLoop.now < limit else {
                throw WaitedInVain(description: "\(file):\(line): waited a minute for \(what)")
            }
            _ = try turn(timeout: 100_000_000)
        }
    }

    package func turn(for time: Int64) throws {
        let until = EventLoop.now + time
        while EventLoop.now < until { _ = try turn(timeout: max(0, until - EventLoop.now)) }
    }

    /// Turns until nothing more is under way.
    package func settle() throws { while try turn(timeout: 0) {} }
}

extension ChildProcess {
    package static func idle(on loop: EventLoop, onEnd: @escaping (Ending) -> Void) throws -> ChildProcess {
        let (ours, theirs) = try socketPair()
        defer { for end in [ours, theirs] { close(end) } }
        return try ChildProcess(path: "/bin/sleep", arguments: ["600"], passing: theirs, on: loop, onEnd: onEnd)
    }
}

/// The messages that one end of a connection received.
package final class Recorder: BusConnectionDelegate {
    package var ready = 0
    package var messages: [BusMessage] = []
    package var ends: [BusConnection.End] = []
    package var onMessage: (BusMessage) -> Void = { _ in }

    package init() {}

    package func connectionReady(_ connection: BusConnection) { ready += 1 }
    package func connection(_ connection: BusConnection, received message: BusMessage) {
        messages.append(message)
        onMessage(message)
    }
    package func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { ends.append(end) }
}

/// SplitMix64: the same seed gives the same numbers on every machine.
package struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
