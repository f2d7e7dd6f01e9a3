package import ArbiterProtocol
import System

/// One line of a user's answers: `allow claimed question 2026-11-23T09:12:00Z firefox`.
///
/// The name is last and has no end but the line's: it may have spaces, and never a line break (`AppIdentity.safe`).
package struct KeptAnswer: Hashable, Sendable {
    package var app: String
    package var isClaimed: Bool
    package var answer: AppAnswer
    /// Never the permission store, which keeps its own.
    package var origin: AnswerOrigin
    package var since: String

    package init(app: String, isClaimed: Bool, answer: AppAnswer, origin: AnswerOrigin, since: String) {
        (self.app, self.isClaimed, self.answer, self.origin, self.since) = (app, isClaimed, answer, origin, since)
    }

    package init?(line: some StringProtocol) {
        // By bytes: a name that begins with a combining mark makes one character with the space before it.
        let words = Array(line.utf8).split(separator: 0x20, maxSplits: 4, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 5, let answer = AppAnswer(rawValue: words[0]), ["vouched", "claimed"].contains(words[1]),
            let origin = AnswerOrigin(rawValue: words[2]), origin != .permissionStore, Self.isDate(words[3]),
            Self.isName(words[4])
        else { return nil }
        self.init(app: words[4], isClaimed: words[1] == "claimed", answer: answer, origin: origin, since: words[3])
    }

    package var line: String {
        "\(answer.rawValue) \(isClaimed ? "claimed" : "vouched") \(origin.rawValue) \(since) \(app)"
    }

    private static func isDate(_ text: String) -> Bool {
        text.utf8.count == 20 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "-:TZ".utf8.contains($0) }
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= AppIdentity.nameBytesMax
            && !text.unicodeScalars.contains { $0.value < 0x20 }
    }
}

/// The lines of a user's file, read one by one, since there may be a thousand, and each is a step of the core.
package struct KeptLines: Sendable {
    /// The first line of a file whose user's privacy switch is on.
    static let privateLine = "private"

    package enum Line: Hashable, Sendable {
        case isPrivate
        case answer(KeptAnswer)
        /// Written by no broker; its number, from 1.
        case unreadable(Int)
    }

    private let bytes: [UInt8]
    private var index = 0
    private var number = 0
    /// An upper bound of all answers, with those that are read already.
    package let answersMax: Int

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        answersMax = bytes.count { $0 == UInt8(ascii: "\n") } + (bytes.last == UInt8(ascii: "\n") ? 0 : 1)
    }

    package mutating func next() -> Line? {
        while index < bytes.count {
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            defer { index = end + 1 }
            number += 1
            if end == index { continue }
            let line = String(decoding: bytes[index..<end], as: UTF8.self)
            if line == Self.privateLine { return .isPrivate }
            return KeptAnswer(line: line).map { .answer($0) } ?? .unreadable(number)
        }
        return nil
    }
}
