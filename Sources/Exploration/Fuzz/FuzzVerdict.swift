public import Arbiter
public import ArbiterProtocol
public import PolicyFile

/// What became of one story.
public struct FuzzVerdict: Hashable, Sendable {
    public var outcome: Outcome
    public var steps = 0
    /// The story's own and those that it reloaded.
    public var policies = 0
    /// How often a judge compared what is to be seen with what it expects.
    public var compared = 0
    public var features = CaseSet<FuzzFeature>()
    public var kinds = CaseSet<EventKind>()
    /// How many of the policies say each key.
    public var said: [PolicyKey: Int] = [:]

    public enum Outcome: Hashable, Sendable {
        /// Every promise was kept.
        case kept
        case broken(Broken)
        /// The text is no scenario.
        case unreadable(String)
    }

    public struct Broken: Hashable, Sendable {
        public var message: String
        /// How many lines were performed, with the one that broke it; nil: the process ended before it could tell.
        public var lines: Int?
        public var moment: Moment

        public init(_ message: String, lines: Int? = nil, moment: Moment = .zero) {
            self.message = message
            self.lines = lines
            self.moment = moment
        }

        public var promise: PromiseClass { PromiseClass(message) }
    }

    public init(_ outcome: Outcome) { self.outcome = outcome }

    public var broken: Broken? { if case .broken(let broken) = outcome { broken } else { nil } }
}

// MARK: As a line

extension FuzzVerdict {
    /// What a process that ran the story tells the one that asked: one line of fields.
    public var line: String {
        var fields = ["\(steps)", "\(policies)", "\(compared)", "\(features.bits)", "\(kinds.bits)"]
        fields.append(said.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " "))
        switch outcome {
        case .kept: fields.append("kept")
        case .broken(let broken):
            fields += ["broken", broken.lines.map { "\($0)" } ?? "-", "\(broken.moment.nanoseconds)", broken.message]
        case .unreadable(let message): fields += ["unreadable", message]
        }
        return fields.map(Self.escape).joined(separator: "\t")
    }

    /// Nil when the line is something else that the process said.
    public init?(line: String) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { Self.unescape($0) }
        guard fields.count >= 7, let steps = Int(fields[0]), let policies = Int(fields[1]),
            let compared = Int(fields[2]), let features = UInt64(fields[3]), let kinds = UInt64(fields[4]),
            let said = Self.said(fields[5])
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
        self.features = CaseSet(bits: features)
        self.kinds = CaseSet(bits: kinds)
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

    /// One line, whatever the text is: also for a story on its way to be run.
    public static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n").replacing("\t", with: "\\t")
    }

    public static func unescape(_ text: some StringProtocol) -> String {
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
