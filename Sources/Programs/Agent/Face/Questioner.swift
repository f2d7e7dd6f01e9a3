import ArbiterProtocol
import Camarb

/// Asks the user the broker's questions, by a notification with two buttons.
///
///     nothing ──asked──▶ asked: shown ──button──▶ the answer goes to the broker, which ends the question ──▶ nothing
///                              └──── closed by the user: stays asked, until the broker's deadline ──▶ nothing
///
/// Where the server goes the broker is told that nobody is asked, and where another one comes, the broker asks anew. It
/// never answers by itself: a closed notification, or a server that goes, is no answer.
final class Questioner {
    private let server: NotificationServer
    private let onAnswer: (QuestionID, AppAnswer) -> Void
    private var question: AppQuestion?
    private var shown: ShownNotification?
    /// Part of each button's key. Any program may replace a notification by its number, which is easily guessed, with
    /// buttons of its own; the keys of this question's buttons it cannot know.
    private var token = ""
    private var round = 0

    init(_ server: NotificationServer, onAnswer: @escaping (QuestionID, AppAnswer) -> Void) {
        self.server = server
        self.onAnswer = onAnswer
    }

    /// Buttons are needed: a question without a way to answer is not asked.
    var canAsk: Bool { server.capabilities?.contains("actions") == true }

    func ask(_ new: AppQuestion) {
        forget()
        question = new
        show()
    }

    func ended(_ number: QuestionID) { if question?.number == number { forget() } }

    func forget() {
        round += 1
        if let shown { server.close(shown) }
        shown = nil
        question = nil
    }

    func pressed(_ notification: ShownNotification, key: String) {
        let answer = [AppAnswer.allow, .deny].first { self.key($0) == key }
        guard let question, notification == shown, let answer else { return }
        onAnswer(question.number, answer)
    }

    private func key(_ answer: AppAnswer) -> String { "\(answer.rawValue)-\(token)" }

    private func show() {
        guard let question else { return }
        token = String(UInt64.random(in: .min ... .max), radix: 36)
        let order = NotificationOrder(
            text: NotificationText(question), buttons: [(key(.allow), "Allow"), (key(.deny), "Deny")], isUrgent: true,
            time: question.time)
        let asked = round
        server.show(order) { [weak self] shown in
            guard let self, let shown else { return }
            // The question may be over by the time that it is shown.
            if round == asked { self.shown = shown } else { server.close(shown) }
        }
    }
}
