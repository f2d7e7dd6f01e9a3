import Arbiter
import ArbiterProtocol

/// What a user says of its apps.
extension ScenarioParser {
    func permission(_ command: Word, _ words: inout Words) throws(LineProblem) -> Event {
        switch command.text {
        case "answer": return try answer(&words)
        case "answer-question":
            let number = try words.word("a question's number")
            guard let id = QuestionID(number.text) else {
                throw LineProblem(number, "a question is a number, as the announcement of it has")
            }
            return .questionAnswered(id, try words.choice("an answer", AppAnswer.allCases.map { ($0.rawValue, $0) }))
        case "questions":
            let on = try words.choice("`watched` or `unwatched`", [("watched", true), ("unwatched", false)])
            return .questionsWatched(user: try user(&words) ?? names.user, on)
        case "stop-app": return .stoppedByUser(try app(&words))
        default:
            let on = try words.choice("`on` or `off`", [("on", true), ("off", false)])
            return .ownPrivacy(user: try user(&words) ?? names.user, on: on)
        }
    }

    /// `APP allow|deny|none [claimed] [by SOURCE]`
    private func answer(_ words: inout Words) throws(LineProblem) -> Event {
        let app = try app(&words)
        let answer: AppAnswer? = try words.choice(
            "an answer", [("allow", .allow), ("deny", .deny), ("none", nil)])
        let isClaimed = words.take("claimed")
        var origin = AnswerOrigin.user
        if words.take("by") {
            origin = try words.choice("who says so", AnswerOrigin.allCases.map { ($0.rawValue, $0) })
        }
        return .answered(app, isClaimed: isClaimed, answer, by: origin)
    }

    /// `user=1001`, if it is there.
    func user(_ words: inout Words) throws(LineProblem) -> UInt32? {
        guard let word = words.peek, word.key == "user" else { return nil }
        _ = words.anything()
        guard let number = UInt32(word.text) else { throw LineProblem(word, "a user is a number, such as 1000") }
        return number
    }
}
