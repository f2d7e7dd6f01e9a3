public import ArbiterProtocol

extension NotificationText {
    /// The question whether an app may have cameras.
    ///
    /// The name stands in quotation marks, and where nobody vouches for it that is said: it is what the app wants to be
    /// called.
    public init(_ question: AppQuestion) {
        let app = "“\(ShownText.name(question.app))”"
        var sentences = ["It asks for \(ShownText.name(question.camera))."]
        if !question.isVouched { sentences.append("It calls itself that; nobody vouches for the name.") }
        if let program = question.program { sentences.append("Its program is \(ShownText.name(program)).") }
        sentences.append("Without an answer it gets none, and you are asked again the next time.")
        self.init(summary: "May \(app) use cameras?", body: sentences.joined(separator: "\n"))
    }
}
