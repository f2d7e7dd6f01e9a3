import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    /// `recorder CAMERA …`: its behaviour from here on, or its answer.
    mutating func recorder(_ words: inout Words) throws(LineProblem) -> [Action] {
        let camera = words.take("all") ? nil : try known(try words.word("a camera"))
        let verb = try words.word("what the recorder does")
        if let behaviour = try behaviour(verb, &words) { return [.behave(camera, behaviour)] }
        guard let camera else { throw LineProblem(verb, "only one recorder at a time says “\(verb.text)”") }
        return [try answer(camera, verb, &words)]
    }

    /// The words of behaviours, and the crash, whose event is `gone`.
    static let verbs =
        [
            "works", "manual", "hangs", "dies-on-open", "slow-open", "slow-cut", "slow-configure", "slow-finish",
            "open-fails", "refuses-configuration", crashVerb,
        ] + EventDescription.recorderVerbs

    private static let crashVerb = "crashes"

    /// One or several, such as `slow-cut 200ms slow-finish 1s`. Each line sets all of it anew.
    private func behaviour(_ verb: Word, _ words: inout Words) throws(LineProblem) -> RecorderBehaviour? {
        var behaviour = RecorderBehaviour.works
        guard try change(&behaviour, verb, &words) else { return nil }
        while let next = words.optionalWord() {
            guard try change(&behaviour, next, &words) else {
                throw next.notOne(of: Self.verbs)
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
        case "slow-open": behaviour.openDelay = try words.word("a time").time()
        case "slow-cut": behaviour.cutDelay = try words.word("a time").time()
        case "slow-configure": behaviour.configureDelay = try words.word("a time").time()
        case "slow-finish": behaviour.finishDelay = try words.word("a time").time()
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
        else { throw verb.notOne(of: Self.verbs) }
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
