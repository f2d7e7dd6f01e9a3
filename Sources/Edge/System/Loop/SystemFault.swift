import Glibc

/// A fault of the world at the C edge: the operation, and its error number.
public struct SystemFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A verb phrase, such as "bind /run/camarb/socket".
    public var doing: String
    /// A positive `errno`.
    public var number: Int32

    public init(_ doing: String, _ number: Int32) {
        self.doing = doing
        self.number = number < 0 ? -number : number
    }

    /// The system's words for the number, such as "Permission denied".
    public var reason: String {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A socket's other end is closed, or was never there: no fault of the operation.
    package var saysThatThePeerIsGone: Bool { [ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN].contains(number) }

    public var description: String { "cannot \(doing): \(reason)" }
}

/// Turns libsystemd's "negative is an error" into a throw.
@discardableResult
package func check(_ result: Int32, _ doing: @autoclosure () -> String) throws(SystemFault) -> Int32 {
    if result < 0 { throw SystemFault(doing(), result) }
    return result
}
