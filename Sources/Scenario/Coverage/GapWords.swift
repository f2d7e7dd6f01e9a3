public import Arbiter

extension PolicyCoverage.Gap {
    /// What is missing, as something that a scenario shows.
    public func claim(in policy: Policy) -> String {
        let title = clause.title(in: policy)
        switch (lack, clause) {
        case (.neverFired, .causeRule), (.neverFired, .rankRule): return "\(title) answers"
        case (.neverUnmatched, .causeRule), (.neverUnmatched, .rankRule): return "\(title) is asked and does not match"
        case (.neverFired, .fact(let rule, let test)):
            return "\"\(rule)\" decides by \(Self.words(test))"
        case (.neverUnmatched, .fact(let rule, let test)):
            return "\"\(rule)\" would decide but for \(Self.words(test))"
        case (.neverFired, .access(.strong)): return "a client whose identity is weak is refused"
        case (.neverFired, .access): return "an app has a camera by \(title)"
        case (.neverFired, .rankChoice(let rule, let choice)): return "the \(choice.rawValue) of \"\(rule)\" decides"
        case (.neverFired, .acrossCameras(let rule, let choice)):
            return "the \(choice.rawValue) of \"\(rule)\" is for an app on another camera"
        case (.neverFired, .order(let key)): return "\(key.name) decides between two apps"
        case (.neverUnmatched, .order(let key)): return "two apps are equal in \(key.name)"
        case (.neverFired, .conflicts): return "\(title) decide"
        case (_, _): return "\(title) decides"
        }
    }

    private static func words(_ test: FactTest) -> String { "\(test.written.key) = \(test.written.value)" }
}
