package import Bus
import CLinux
package import Loop

/// Two connected Unix stream sockets, the caller's.
package func socketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    try check(camarb_unix_pair(&ends), "make a pair of sockets")
    return (ends[0], ends[1])
}

/// What a test waited for did not happen.
package struct WaitedInVain: Error, CustomStringConvertible {
    package var description: String
}

extension EventLoop {
    /// Turns until the condition holds; fails the test after ten seconds, which no test comes near.
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
}

/// What one end of a connection saw.
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
