import Bus
import Glibc
import Loop

/// A connection that is no client: it says nothing, half of something, or nonsense.
final class HostilePeer {
    enum Manner: Int, CaseIterable {
        case silent, halfAuthentication, nonsense, endless, halfMessage, hugeMessage
    }

    let manner: Manner
    private let descriptor: Int32

    init(_ manner: Manner, _ path: String) throws(SystemFault) {
        self.manner = manner
        descriptor = try SocketAddress.connect(toPath: path)
        say()
    }

    deinit { close(descriptor) }

    private static let hello = "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n"

    private func say() {
        switch manner {
        case .silent: break
        case .halfAuthentication: write(Array("\0AUTH EXT".utf8))
        case .nonsense: write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        case .endless: write([0] + [UInt8](repeating: UInt8(ascii: "A"), count: 3000))
        case .halfMessage:
            // A call of 64 bytes of fields and 16 of body, without the last of them.
            write(Array(Self.hello.utf8) + Self.header(body: 16, fields: 64) + [UInt8](repeating: 0, count: 40))
        case .hugeMessage: write(Array(Self.hello.utf8) + Self.header(body: 64 * 1024 * 1024, fields: 64))
        }
    }

    /// The sixteen bytes that a message begins with, little-endian: a method call.
    private static func header(body: UInt32, fields: UInt32) -> [UInt8] {
        [UInt8(ascii: "l"), 1, 0, 1] + bytes(body) + bytes(1) + bytes(fields)
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Without waiting: a broker that reads none of it is no concern of the simulation's.
    private func write(_ bytes: [UInt8]) {
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
}
