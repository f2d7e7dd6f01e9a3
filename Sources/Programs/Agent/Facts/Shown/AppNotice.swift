public import ArbiterProtocol

/// An event of one of the user's apps that its user would want to know.
public enum AppNotice: Hashable, Sendable {
    case recordingCut(app: String, camera: String, by: Interrupter?, cause: Cause)
    case waits(app: String, camera: String, holder: Interrupter?)
    case answered(AnswerChange)

    /// For people, without markup.
    public var sentence: String {
        switch self {
        case .recordingCut(let app, let camera, let by, let cause):
            "The recording of \(ShownText.name(app)) with \(ShownText.name(camera)) was cut: \(cause.shownWords(by)). "
                + "What was recorded until then is kept."
        case .waits(let app, let camera, let holder):
            "\(ShownText.name(app)) waits for \(ShownText.name(camera))"
                + (holder.map { ", which \($0.shownNameInside) has." } ?? ".")
        case .answered(let change): "\(change.shownWords): \(change.shownAuthor) said so."
        }
    }

    var isAnswer: Bool { if case .answered = self { true } else { false } }

    fileprivate var summary: String {
        switch self {
        case .recordingCut: "A recording was cut"
        case .waits: "An app waits for a camera"
        case .answered(let change):
            switch change.answer {
            case .allow: "An app was allowed to use cameras"
            case .deny: "An app was denied all cameras"
            case nil: "What you said of an app was taken back"
            }
        }
    }
}

public struct NotificationText: Hashable, Sendable {
    public var summary: String
    /// Without markup.
    public var body: String
    /// The next notification must not replace it: no later event may hide it.
    public var isToStay = false

    public init(summary: String, body: String) {
        self.summary = summary
        self.body = body
    }

    init(_ notices: [AppNotice], leftOut: Int) {
        let hasAnswers = notices.contains(where: \.isAnswer)
        isToStay = hasAnswers
        if notices.count + leftOut == 1 {
            summary = notices[0].summary
        } else if hasAnswers {
            summary = "Somebody answered for your apps"
        } else {
            summary = "Several apps lost a camera or wait for one"
        }
        var sentences = notices.map(\.sentence)
        if leftOut > 0 {
            // Frequent answers hide none of the earlier ones.
            let whole = hasAnswers ? ": camclient apps answers lists what is said of your apps." : "."
            sentences.append("The same happened \(leftOut) more times\(whole)")
        }
        body = sentences.joined(separator: "\n")
    }

    /// The body for a server whose bodies have markup.
    public var markup: String { body.markupEscaped() }
}

extension AnswerChange {
    fileprivate var shownWords: String {
        let app = "“\(ShownText.name(app))”" + (isVouched ? "" : ", a name that nobody vouches for,")
        return switch answer {
        case .allow: "\(app) may use cameras from now on"
        case .deny: "\(app) may use no camera from now on"
        case nil: "What you said of \(app) is forgotten"
        }
    }

    /// The author of an answer, with the kernel's facts about it: a program chooses its own name.
    fileprivate var shownAuthor: String {
        let name =
            switch author {
            case .app(let name): "“\(ShownText.name(name))”"
            case .anotherUsersApp, .outside: "another user's app"
            case nil: "a program"
            }
        let known = [process.map { "process \($0)" }, program.map(ShownText.name)].compactMap(\.self)
        return known.isEmpty ? name : "\(name) (\(known.joined(separator: ", ")))"
    }
}

extension Interrupter {
    fileprivate var shownNameInside: String {
        switch self {
        case .anotherUsersApp: "another user's app"
        case .app, .outside: shownName
        }
    }
}

extension Cause {
    fileprivate func shownWords(_ by: Interrupter?) -> String {
        let taker = by?.shownNameInside ?? "another app"
        return switch self {
        case .videoDeviceInUseByAnotherClient, .videoDeviceNotAvailableWithMultipleForegroundApps:
            "\(taker) has the camera now"
        case .audioDeviceInUseByAnotherClient: "\(taker) has the microphone now"
        case .videoDeviceNotAvailableInBackground: "the app is in the background"
        case .videoDeviceNotAvailableDueToSystemPressure: "the machine is too hot or too busy"
        case .sensitiveContentMitigationActivated: "sensitive content was seen"
        case .videoDeviceDisconnected: "the camera was unplugged"
        case .videoDeviceBlockedByPrivacy: "privacy is on"
        case .waitingForPermission: "you have not said yet whether it may have cameras"
        case .loginSessionInactive: "another login session is in front"
        case .systemSleep: "the machine goes to sleep"
        case .deviceError: "the camera failed"
        case .recorderReset: "the camera had to be started anew"
        case .brokerRestarted: "the camera service was started anew"
        }
    }
}

extension NotificationText {
    /// The question whether an app may have cameras.
    ///
    /// The name stands in quotation marks, with a word where the kernel does not vouch for it: it is the app's own
    /// choice.
    public init(_ question: AppQuestion) {
        let app = "“\(ShownText.name(question.app))”"
        var sentences = ["It asks for \(ShownText.name(question.camera))."]
        if !question.isVouched { sentences.append("It calls itself that; nobody vouches for the name.") }
        if let program = question.program { sentences.append("Its program is \(ShownText.name(program)).") }
        sentences.append("Without an answer it gets none, and you are asked again the next time.")
        self.init(summary: "May \(app) use cameras?", body: sentences.joined(separator: "\n"))
    }
}

enum ShownText {
    /// The room of a line of a menu or a notification; a longer name hides the text after it.
    static let nameLengthMax = 60

    static func name(_ text: String) -> String {
        let name = text.printable(" ")
        return name.count > nameLengthMax ? name.prefix(nameLengthMax - 1) + "…" : name
    }
}
