package import ArbiterProtocol

/// A `Decided` signal's scenario lines, read back: the notices as events, and what a picture shows of the inputs.
///
///     2s   presence notes slide-over
///            photos wasInterrupted #1 multiple-foreground-apps by notes, cutting recording 1
package struct DecisionTrace {
    package let lines: [String]
    package let entries: [LogEntry]

    package init(_ decision: DecisionID, at moment: Moment, _ trace: String) {
        lines = trace.split(separator: "\n").map(String.init)
        var entries: [LogEntry] = []
        // Times in the lines count from an origin of the broker's; the first line's is `moment`.
        var origin: Moment?
        for line in lines {
            let words = line.scenarioWords
            if line.hasPrefix("       ") {
                if let (session, event) = NoticeLine.read(words, origin: origin) {
                    entries.append(
                        .event(moment, app: session, SessionSignal(sequence: 0, decision: decision, event: event)))
                } else if words.first == "refused" {
                    entries.append(.fact(moment, .note(words.joined(separator: " "))))
                }
                continue
            }
            var input = words[...]
            if let first = input.first, let time = Duration(text: first) {
                origin = origin ?? moment + .nanoseconds(-time.wholeNanoseconds)
                input = input.dropFirst()
            }
            if let fact = Self.fact(Array(input)) { entries.append(.fact(moment, fact)) }
        }
        self.entries = entries
    }

    /// What a picture shows of an input; nil for what it shows by its consequences.
    package static func fact(_ words: [String]) -> TimelineFact? {
        guard let command = words.first else { return nil }
        let name = words.count > 1 ? words[1] : ""
        switch command {
        case "session": return .appeared(lane: name)
        case "close", "disconnect": return .left(lane: name)
        case "presence", "microphone", "sensitive", "operator", "login-session", "plug", "unplug", "privacy",
            "held-outside", "pressure", "sleep", "wake", "policy-reload", "declare-presence", "lower":
            // A re-plugged camera's whole description would hide the rest.
            return .note((command == "plug" ? words.prefix(2) : words[...]).joined(separator: " "))
        default: return nil
        }
    }
}

extension String {
    /// The words of a scenario line, without the quotation marks around those with spaces.
    package var scenarioWords: [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in self {
            if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == " ", !isQuoted {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }
}

/// One notice line of the scenario language. `ScenarioWriter` writes it; what is not in the line (rules, bytes,
/// frames) reads as empty.
package enum NoticeLine {
    package static func read(_ words: [String], origin: Moment? = nil) -> (session: String, event: SessionEvent)? {
        guard words.count >= 2 else { return nil }
        let session = words[0]
        var rest = Rest(words: words.dropFirst(2), origin: origin)
        guard let event = rest.event(words[1]) else { return nil }
        return (session, event)
    }

    private struct Rest {
        var words: ArraySlice<String>
        let origin: Moment?

        /// The next word, without a comma behind it.
        private mutating func next() -> String? {
            words.popFirst().map { $0.hasSuffix(",") ? String($0.dropLast()) : $0 }
        }

        private mutating func take(_ word: String) -> Bool {
            guard words.first == word else { return false }
            words.removeFirst()
            return true
        }

        private mutating func id() -> UInt64? {
            next().flatMap { UInt64($0.hasPrefix("#") ? $0.dropFirst() : $0[...]) }
        }

        private mutating func causes() -> CauseSet? {
            guard let word = next() else { return nil }
            var set = CauseSet()
            if word == "no-cause" { return set }
            for name in word.split(separator: "+") {
                guard let cause = Cause(shortName: String(name)) else { return nil }
                set.insert(cause)
            }
            return set
        }

        private mutating func time() -> Duration? {
            next().flatMap { Duration(text: $0) }
        }

        /// `by NAME`, where it is next.
        private mutating func interrupter() -> Interrupter? {
            guard take("by") else { return nil }
            // An app's name may have spaces: it ends at the comma.
            var name: [String] = []
            while let word = words.first, word != "cutting" {
                words.removeFirst()
                name.append(word)
            }
            let whole = name.joined(separator: " ")
            return Interrupter(wireName: whole.hasSuffix(",") ? String(whole.dropLast()) : whole)
        }

        private mutating func text() -> String {
            words.joined(separator: " ")
        }

        private mutating func settings() -> Configuration {
            var configuration = Configuration()
            while let word = words.first, word != "by", word != "in" {
                words.removeFirst()
                try? configuration.set(word.hasSuffix(",") ? String(word.dropLast()) : word)
            }
            return configuration
        }

        mutating func event(_ name: String) -> SessionEvent? {
            switch name {
            case "willBeInterrupted":
                guard let id = id(), let cause = next().flatMap(Cause.init(shortName:)) else { return nil }
                let offset = take("at") ? time() : nil
                let deadline = origin.flatMap { origin in offset.map { origin + $0 } }
                return .willBeInterrupted(id: id, cause: cause, deadline: deadline ?? .distantFuture, rule: "")
            case "interruptionWithdrawn": return id().map { .interruptionWithdrawn(id: $0) }
            case "wasInterrupted":
                guard let id = id(), let causes = causes() else { return nil }
                let interrupter = interrupter()
                let recording: RecordingID? = take("cutting") && take("recording") ? self.id() : nil
                return .wasInterrupted(id: id, causes: causes, interrupter: interrupter, cutting: recording, rule: "")
            case "interruptionChanged":
                guard let id = id(), let causes = causes() else { return nil }
                return .interruptionChanged(id: id, causes: causes, interrupter: interrupter(), rule: "")
            case "interruptionEnded":
                guard let id = id() else { return nil }
                var had = CauseSet()
                if words.first != "after" { had = causes() ?? had }
                guard take("after"), let duration = time() else { return nil }
                return .interruptionEnded(
                    id: id, causesItHad: had, duration: duration, willResume: words.first == "resuming")
            case "didStartRunning": return .didStartRunning(grant: GrantID(0))
            case "didStopRunning": return .didStopRunning
            case "accessChanged":
                guard let word = next() else { return nil }
                var access = word == "all" ? Access.all : .none
                if word != "all", word != "none" {
                    for name in word.split(separator: "+") {
                        guard let right = Access(name: String(name)) else { return nil }
                        access.insert(right)
                    }
                }
                return .accessChanged(access, causes: words.isEmpty ? CauseSet() : causes() ?? CauseSet(), rule: "")
            case "sharersChanged":
                let sharers = text()
                guard !sharers.isEmpty else { return nil }
                return .sharersChanged(
                    sharers == "nobody"
                        ? [] : sharers.split(separator: ", ").compactMap { Interrupter(wireName: String($0)) })
            case "sessionStopped":
                guard let reason = next().flatMap(StopReason.init(rawValue:)) else { return nil }
                return .sessionStopped(reason, rule: take("because") ? text() : "")
            case "recordingStarted": return id().map { .recordingStarted($0) }
            case "recordingFinished":
                guard let id = id(), let why = next().flatMap(RecordingEnd.init(rawValue:)), take("after"),
                    let duration = time()
                else { return nil }
                return .recordingFinished(
                    RecordingFinished(
                        recording: id, why: why, frames: 0, duration: duration, bytes: 0, nextChance: .now))
            case "photoCaptured":
                guard let id = id() else { return nil }
                if take("failed") {
                    return .photoCaptured(PhotoCaptured(photo: id, width: 0, height: 0, bytes: 0, error: text()))
                }
                let sides = (next() ?? "").split(separator: "x").compactMap { UInt32($0) }
                guard sides.count == 2 else { return nil }
                return .photoCaptured(PhotoCaptured(photo: id, width: sides[0], height: sides[1], bytes: 0))
            case "configurationApplied":
                let asked = take("defaults") ? Configuration() : settings()
                var inForce = asked
                if take("in"), take("force") { inForce.merge(settings()) }
                guard take("by"), let by = next().flatMap(Applier.init(rawValue:)) else { return nil }
                return .configurationApplied(asked: asked, inForce: inForce, by: by)
            case "rampFinished": return next().flatMap { Double($0) }.map { .rampFinished(videoZoomFactor: $0) }
            case "runtimeError":
                guard let code = next() else { return nil }
                return .runtimeError(code: code, message: text())
            default: return nil
            }
        }
    }
}
