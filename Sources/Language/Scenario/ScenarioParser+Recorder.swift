import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    /// `recorder CAMERA …`: how it behaves from here on, or what it says now.
    mutating func recorder(_ words: inout Words) throws(LineProblem) -> [Action] {
        let camera = words.take("all") ? nil : try camera(try words.word("a camera"))
        let verb = try words.word("what the recorder does")
        if let behaviour = try behaviour(verb, &words) { return [.behave(camera, behaviour)] }
        guard let camera else { throw LineProblem(verb, "only one recorder at a time says “\(verb.text)”") }
        return [try answer(camera, verb, &words)]
    }

    /// How it can behave, and that it crashes, which is told as an event: it is gone.
    static let verbs =
        [
            "works", "manual", "hangs", "dies-on-open", "slow-open", "slow-cut", "slow-configure", "slow-finish",
            "open-fails", "refuses-configuration", crashVerb,
        ] + EventDescription.recorderVerbs

    private static let crashVerb = "crashes"

    /// One or several, such as `slow-cut 200ms slow-finish 1s`; each line says all of it anew.
    private func behaviour(_ verb: Word, _ words: inout Words) throws(LineProblem) -> RecorderBehaviour? {
        var behaviour = RecorderBehaviour.works
        guard try change(&behaviour, verb, &words) else { return nil }
        while let next = words.optionalWord() {
            guard try change(&behaviour, next, &words) else {
                throw LineProblem(next, notOne(next.text, of: Self.verbs))
            }
        }
        return behaviour
    }

    private func change(
        _ behaviour: inout RecorderBehaviour, _ verb: Word, _ words: inout Words
    ) throws(LineProblem) -> Bool {
        switch verb.text {
        case "works": break
        case "manual": behaviour.isManual = true
        case "hangs":
            behaviour.hangs = true
            behaviour.hangsAlways = words.take("always")
        case "dies-on-open": behaviour.diesOnOpen = true
        case "slow-open": behaviour.openDelay = try words.duration("a time")
        case "slow-cut": behaviour.cutDelay = try words.duration("a time")
        case "slow-configure": behaviour.configureDelay = try words.duration("a time")
        case "slow-finish": behaviour.finishDelay = try words.duration("a time")
        case "open-fails": behaviour.openFailure = try words.word("what the device says").text
        case "refuses-configuration": behaviour.configureRefusal = try words.word("why").text
        default: return false
        }
        return true
    }

    private mutating func answer(_ camera: CameraID, _ verb: Word, _ words: inout Words) throws(LineProblem) -> Action {
        let said = verb.text == Self.crashVerb ? "gone" : verb.text
        guard
            let described = EventDescription.with(command: Sentence.recorderCommand).first(where: {
                $0.sentence.verb == said
            })
        else { throw LineProblem(verb, notOne(verb.text, of: Self.verbs)) }
        let saysGrant = words.peek?.key == "grant"
        let event = try event(described.kind, &words, first: camera)
        return .answer(event, grant: saysGrant ? event.grant : nil)
    }
}

extension Event {
    fileprivate var grant: GrantID? {
        for case .grant(let grant) in subjects { return grant }
        return nil
    }
}
