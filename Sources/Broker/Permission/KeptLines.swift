/// The lines of a user's file of answers, or of a text as such a file has it: read one by one, since there may be a thousand,
/// and each is a step of the core.
package struct KeptLines: Sendable {
    /// The user's own privacy switch is on. The first line of a file, if it is there.
    static let privateLine = "private"

    package enum Line: Hashable, Sendable {
        case isPrivate
        case answer(KeptAnswer)
        /// No broker wrote it; its number, from 1.
        case unreadable(Int)
    }

    private let bytes: [UInt8]
    private var place = 0
    private var number = 0
    /// How many answers there are at the most, those that are read already among them.
    package let answersMax: Int

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        answersMax = bytes.count { $0 == UInt8(ascii: "\n") } + (bytes.last == UInt8(ascii: "\n") ? 0 : 1)
    }

    /// Nil: all are read.
    package mutating func next() -> Line? {
        while place < bytes.count {
            let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            defer { place = end + 1 }
            number += 1
            if end == place { continue }
            let line = String(decoding: bytes[place..<end], as: UTF8.self)
            if line == Self.privateLine { return .isPrivate }
            return KeptAnswer(line: line).map { .answer($0) } ?? .unreadable(number)
        }
        return nil
    }
}
