/// What figures need of a trace's line.
enum ScannedLine {
    case header
    case step(ScannedStep)
    case end(word: String, steps: UInt64, lost: UInt64)
}

/// A step, as far as figures need it: who asked for what, and what each session was told.
struct ScannedStep {
    var number: UInt64 = 0
    var moment: Int64 = 0
    var event = ""
    var decision: UInt64 = 0
    var client: UInt64?
    var session: UInt64?
    var app: String?
    var user: UInt64?
    var camera: String?
    /// Of the client or session that the event brings.
    var name: String?
    /// The policy that came into force.
    var policy: String?
    /// What tells it from others of its name; older lines lack it.
    var policyHash: String?
    var told: [Told] = []
    var refusal: Refusal?
    /// Cameras whose holder is ordered cut, and those that are ordered opened.
    var cut: [String] = []
    var opened: [String] = []

    struct Refusal {
        var error = ""
        var rule = ""
    }

    /// A notice to a session.
    struct Told {
        var session: UInt64 = 0
        var notice = ""
        var cause: String?
        var causes: [String] = []
        var rule: String?
        var interrupter: String?
        /// Nanoseconds.
        var duration: UInt64?
    }
}

extension ScannedLine {
    /// Nil: it is no line of a trace.
    init?(_ bytes: [UInt8], _ range: Range<Int>) {
        var cursor = LineCursor(bytes, range)
        guard cursor.take(UInt8(ascii: "{")), let first = cursor.key() else { return nil }
        if cursor.isWord(first, "trace") {
            self = .header
        } else if cursor.isWord(first, "step") {
            guard let step = ScannedStep(&cursor) else { return nil }
            self = .step(step)
        } else if cursor.isWord(first, "end") {
            guard let word = cursor.string() else { return nil }
            var (steps, lost): (UInt64?, UInt64) = (nil, 0)
            while cursor.take(UInt8(ascii: ",")) {
                guard let key = cursor.key() else { return nil }
                if cursor.isWord(key, "steps") {
                    steps = cursor.count()
                } else if cursor.isWord(key, "lost") {
                    guard let count = cursor.count() else { return nil }
                    lost = count
                } else if !cursor.skip() {
                    return nil
                }
            }
            guard let steps, cursor.isAtEnd else { return nil }
            self = .end(word: word, steps: steps, lost: lost)
        } else {
            return nil
        }
    }
}

extension ScannedStep {
    /// Behind the key of the step's number, up to the checksum.
    fileprivate init?(_ cursor: inout LineCursor) {
        guard let number = cursor.count() else { return nil }
        self.number = number
        var (hasMoment, hasEvent, hasDecision, hasEffects) = (false, false, false, false)
        while cursor.take(UInt8(ascii: ",")) {
            guard let key = cursor.key() else { return nil }
            if cursor.isWord(key, "at") {
                guard let moment = cursor.count().flatMap({ Int64(exactly: $0) }) else { return nil }
                self.moment = moment
                hasMoment = true
            } else if cursor.isWord(key, "event") {
                guard let event = cursor.string() else { return nil }
                self.event = event
                hasEvent = true
            } else if cursor.isWord(key, "decision") {
                guard let decision = cursor.count() else { return nil }
                self.decision = decision
                hasDecision = true
            } else if cursor.isWord(key, "effects") {
                guard readEffects(&cursor) else { return nil }
                hasEffects = true
            } else if !readValue(of: key, &cursor) {
                return nil
            }
        }
        guard cursor.isAtEnd, hasMoment, hasEvent, hasDecision, hasEffects else { return nil }
    }

    private mutating func readValue(of key: Range<Int>, _ cursor: inout LineCursor) -> Bool {
        if cursor.isWord(key, "session") {
            session = cursor.count()
            return session != nil || cursor.skip()
        }
        if cursor.isWord(key, "client") {
            client = cursor.count()
            return client != nil || cursor.skip()
        }
        if cursor.isWord(key, "user") {
            user = cursor.count()
            return user != nil || cursor.skip()
        }
        if cursor.isWord(key, "app") {
            app = cursor.string()
        } else if cursor.isWord(key, "camera") {
            camera = cursor.string()
        } else if cursor.isWord(key, "name") {
            name = cursor.string()
        } else if cursor.isWord(key, "policy") {
            policy = cursor.string()
        } else if cursor.isWord(key, "policyHash") {
            policyHash = cursor.string()
        } else {
            return cursor.skip()
        }
        return true
    }

    // MARK: Effects

    private mutating func readEffects(_ cursor: inout LineCursor) -> Bool {
        guard cursor.take(UInt8(ascii: "[")) else { return false }
        if cursor.take(UInt8(ascii: "]")) { return true }
        repeat {
            guard readEffect(&cursor) else { return false }
        } while cursor.take(UInt8(ascii: ","))
        return cursor.take(UInt8(ascii: "]"))
    }

    private mutating func readEffect(_ cursor: inout LineCursor) -> Bool {
        guard cursor.take(UInt8(ascii: "{")), let key = cursor.key(), cursor.isWord(key, "effect"),
            let kind = cursor.text()?.range
        else { return false }
        var told = Told()
        var refusal = Refusal()
        var camera: String?
        let isNotice = cursor.isWord(kind, "notify")
        let isRefusal = cursor.isWord(kind, "refused")
        let isCut = cursor.isWord(kind, "cut")
        let isOpen = cursor.isWord(kind, "open")
        while cursor.take(UInt8(ascii: ",")) {
            guard let key = cursor.key() else { return false }
            if isNotice {
                guard told.read(key, &cursor) else { return false }
            } else if isRefusal, cursor.isWord(key, "error") {
                refusal.error = cursor.string() ?? ""
            } else if isRefusal, cursor.isWord(key, "rule") {
                refusal.rule = cursor.string() ?? ""
            } else if isCut || isOpen, cursor.isWord(key, "camera") {
                camera = cursor.string()
            } else if !cursor.skip() {
                return false
            }
        }
        if isNotice { self.told.append(told) }
        if isRefusal { self.refusal = refusal }
        if isCut, let camera { cut.append(camera) }
        if isOpen, let camera { opened.append(camera) }
        return cursor.take(UInt8(ascii: "}"))
    }
}

extension ScannedStep.Told {
    fileprivate mutating func read(_ key: Range<Int>, _ cursor: inout LineCursor) -> Bool {
        if cursor.isWord(key, "session") {
            guard let id = cursor.count() else { return false }
            session = id
        } else if cursor.isWord(key, "notice") {
            notice = cursor.string() ?? ""
        } else if cursor.isWord(key, "reason") || cursor.isWord(key, "cause") {
            cause = cursor.string()
        } else if cursor.isWord(key, "rule") {
            rule = cursor.string()
        } else if cursor.isWord(key, "interrupter") {
            interrupter = cursor.string()
        } else if cursor.isWord(key, "duration") {
            duration = cursor.count()
            return duration != nil || cursor.skip()
        } else if cursor.isWord(key, "causes") {
            guard cursor.take(UInt8(ascii: "[")) else { return cursor.skip() }
            if cursor.take(UInt8(ascii: "]")) { return true }
            repeat {
                guard let cause = cursor.string() else { return false }
                causes.append(cause)
            } while cursor.take(UInt8(ascii: ","))
            return cursor.take(UInt8(ascii: "]"))
        } else {
            return cursor.skip()
        }
        return true
    }
}
