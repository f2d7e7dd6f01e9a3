import Arbiter
package import ArbiterProtocol
package import PolicyFile

package struct FuzzVerdict: Hashable, Sendable {
    package var outcome: Outcome
    package var steps = 0
    package var policies = 0
    /// A judge's comparisons.
    package var compared = 0
    package var features = Set<FuzzFeature>()
    package var kinds = Set<EventKind>()
    package var said: [PolicyKey: Int] = [:]

    package enum Outcome: Hashable, Sendable {
        case kept
        case broken(Broken)
        case unreadable(String)
    }

    package struct Broken: Hashable, Sendable {
        package var message: String
        /// Lines that were performed, with the one that broke it; `nil` where the process ended.
        package var lines: Int?
        package var moment: Moment

        package init(_ message: String, lines: Int? = nil, moment: Moment = .zero) {
            self.message = message
            self.lines = lines
            self.moment = moment
        }

        package var promise: PromiseClass { PromiseClass(message) }
    }

    package init(_ outcome: Outcome) { self.outcome = outcome }

    package var broken: Broken? { if case .broken(let broken) = outcome { broken } else { nil } }
}

extension FuzzVerdict {
    /// The answer of a process that ran the case: one line of fields.
    package var line: String {
        var fields = ["\(steps)", "\(policies)", "\(compared)"]
        fields += [features.map(\.words), kinds.map(\.rawValue)].map { $0.joined(separator: " ") }
        fields.append(said.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " "))
        switch outcome {
        case .kept: fields.append("kept")
        case .broken(let broken):
            fields += ["broken", broken.lines.map { "\($0)" } ?? "-", "\(broken.moment.nanoseconds)", broken.message]
        case .unreadable(let message): fields += ["unreadable", message]
        }
        return fields.map(Self.escape).joined(separator: "\t")
    }

    /// `nil` where the line is other output of the process.
    package init?(line: String) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { Self.unescape($0) }
        guard fields.count >= 7, let steps = Int(fields[0]), let policies = Int(fields[1]),
            let compared = Int(fields[2]), let said = Self.said(fields[5])
        else { return nil }
        switch (fields[6], fields.count) {
        case ("kept", 7): self.init(.kept)
        case ("broken", 10):
            guard let moment = Int64(fields[8]) else { return nil }
            self.init(.broken(Broken(fields[9], lines: Int(fields[7]), moment: Moment(nanoseconds: moment))))
        case ("unreadable", 8): self.init(.unreadable(fields[7]))
        default: return nil
        }
        self.steps = steps
        self.policies = policies
        self.compared = compared
        features = Set(fields[3].split(separator: " ").map { FuzzFeature(words: String($0)) })
        kinds = Set(fields[4].split(separator: " ").compactMap { EventKind(rawValue: String($0)) })
        self.said = said
    }

    private static func said(_ field: String) -> [PolicyKey: Int]? {
        var said: [PolicyKey: Int] = [:]
        for word in field.split(separator: " ") {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let count = Int(parts[1]) else { return nil }
            said[PolicyKey(spoken: parts[0])] = count
        }
        return said
    }

    /// One line for any text, also for cases.
    package static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    }

    package static func unescape(_ text: some StringProtocol) -> String {
        var plain = ""
        var isEscaped = false
        for character in text {
            switch (isEscaped, character) {
            case (false, "\\"): isEscaped = true
            case (false, _): plain.append(character)
            case (true, _):
                plain.append(character == "n" ? "\n" : character == "t" ? "\t" : character)
                isEscaped = false
            }
        }
        return plain
    }
}

/// A message without its numbers, names and times, which is equal for cases that break a promise in the same way.
package struct PromiseClass: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    package init(_ message: String) {
        var rest = Substring(message)
        var text = ""
        // The number of the promise in semantics.md §8 stays.
        if let first = rest.first, first.isWholeNumber, rest.dropFirst().hasPrefix(": ") {
            text.append(first)
            rest = rest.dropFirst()
        }
        while let first = rest.first {
            if first.isWholeNumber {
                text += "N"
                rest = Self.dropNumber(rest)
            } else if let end = Self.closing[first], let close = rest.dropFirst().firstIndex(of: end) {
                text += "\(first)…\(end)"
                rest = rest[rest.index(after: close)...]
            } else if first.isLetter {
                let word = rest.prefix { $0.isLetter || $0 == "-" }
                text += FuzzNames.cameras.contains(String(word)) ? "CAMERA" : word
                rest = rest.dropFirst(word.count)
            } else {
                text.append(first)
                rest = rest.dropFirst()
            }
        }
        description = text
    }

    private static let closing: [Swift.Character: Swift.Character] = ["“": "”", "\"": "\"", "[": "]"]

    /// With its unit: `2s` and `250ms` are equal.
    private static func dropNumber(_ text: Substring) -> Substring {
        var rest = text.drop { $0.isWholeNumber }
        if rest.first == ".", rest.dropFirst().first?.isWholeNumber ?? false {
            rest = rest.dropFirst().drop { $0.isWholeNumber }
        }
        let unit = rest.prefix { $0.isLetter }
        return ["s", "ms", "us", "ns", "min"].contains(unit) ? rest.dropFirst(unit.count) : rest
    }

    package static func < (a: PromiseClass, b: PromiseClass) -> Bool { a.description < b.description }

    package var fileName: String {
        let words = description.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return words.joined(separator: "-")
    }
}
