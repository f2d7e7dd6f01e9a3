import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    /// `recorder CAMERA …`: how it behaves from here on, or what it says now; `finished` and `captured`
    /// are what it says of recordings and photos.
    func recorder(_ command: Word, _ words: inout Words) throws(LineProblem) -> [Action] {
        switch command.text {
        case "finished": return [.event(try finished(&words))]
        case "captured": return [.event(try captured(&words))]
        default: break
        }
        let camera = try cameraOrAll(&words)
        let verb = try words.word("what the recorder does")
        if let behaviour = try behaviour(verb, &words) { return [.behave(camera, behaviour)] }
        guard let camera else { throw LineProblem(verb, "only one recorder at a time says “\(verb.text)”") }
        return [try answer(camera, verb, &words)]
    }

    static let verbs = [
        "works", "manual", "hangs", "dies-on-open", "slow-open", "slow-cut", "slow-configure", "slow-finish",
        "open-fails", "refuses-configuration", "crashes", "streaming", "cut", "closed-streams",
        "configured",
        "refused-configuration", "gone", "failed", "ramp-finished", "trouble",
    ]

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

    private func answer(_ camera: CameraID, _ verb: Word, _ words: inout Words) throws(LineProblem) -> Action {
        let grant = try grant(&words)
        let answer: RecorderAnswer
        switch verb.text {
        case "crashes", "gone": answer = .gone
        case "cut": answer = .cut
        case "closed-streams": answer = .closedStreams(try session(&words))
        case "streaming":
            let inForce = try configuration(&words)
            answer = .streaming(inForce.isEmpty ? nil : inForce)
        case "configured":
            let inForce = try configuration(&words)
            answer = .configured(asked: nil, inForce: inForce.isEmpty ? nil : inForce)
        case "refused-configuration":
            answer = .refusedConfiguration(asked: nil, try words.word("why").text)
        case "failed": answer = .failed(try words.word("what the device says").text)
        case "ramp-finished":
            let word = try words.word("a zoom factor")
            guard let factor = Double(word.text) else { throw LineProblem(word, "a zoom factor is a number") }
            answer = .rampFinished(factor)
        case "trouble":
            let code = try words.word("a code").text
            answer = .trouble(code: code, try words.word("a sentence").text)
        default: throw LineProblem(verb, notOne(verb.text, of: Self.verbs))
        }
        return .answer(camera, answer, grant: grant)
    }

    /// `finished 1 stopped [frames=60] [duration=2s] [bytes=60000]`
    private func finished(_ words: inout Words) throws(LineProblem) -> Event {
        let id = try number(&words, "a recording")
        let why = try words.choice("why it ended", RecordingEnd.allCases.map { ($0.rawValue, $0) })
        var frames: UInt64 = 0
        var bytes: UInt64 = 0
        var duration = Duration.zero
        while let word = words.anything() {
            switch word.key {
            case "frames": frames = try number(word)
            case "bytes": bytes = try number(word)
            case "duration":
                guard let time = TimeText.parse(word.text) else { throw LineProblem(word, "“\(word.text)” is no time") }
                duration = time
            default: throw LineProblem(word, notOne(word.key ?? word.text, of: ["frames", "duration", "bytes"]))
            }
        }
        return .recordingFinished(id, why: why, frames: frames, duration: duration, bytes: bytes)
    }

    /// `captured 1 1920x1080 [bytes=1000]`, `captured 1 failed "the disk is full"`
    private func captured(_ words: inout Words) throws(LineProblem) -> Event {
        let id = try number(&words, "a photo")
        if words.take("failed") {
            let message = try words.word("why").text
            return .photoCaptured(PhotoCaptured(photo: id, width: 0, height: 0, bytes: 0, error: message))
        }
        let size = try words.word("its size")
        let sides = size.text.split(separator: "x").compactMap { UInt32($0) }
        guard sides.count == 2 else { throw LineProblem(size, "a size is written 1920x1080") }
        var bytes: UInt64 = 0
        if let word = words.anything() {
            guard word.key == "bytes" else { throw LineProblem(word, notOne(word.key ?? word.text, of: ["bytes"])) }
            bytes = try number(word)
        }
        return .photoCaptured(PhotoCaptured(photo: id, width: sides[0], height: sides[1], bytes: bytes))
    }

    private func number(_ words: inout Words, _ what: String) throws(LineProblem) -> UInt64 {
        try number(try words.word("the number of \(what)"))
    }

    private func number(_ word: Word) throws(LineProblem) -> UInt64 {
        guard let number = UInt64(word.text) else {
            throw LineProblem(word, "“\(word.text)” is no whole number from 0")
        }
        return number
    }
}
