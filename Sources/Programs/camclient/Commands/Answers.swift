import ArgumentParser
import Camarb
import WorkbenchCommands

struct AppAnswers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers", abstract: "List your apps that are allowed or denied cameras.",
        discussion: """
            Lists your answers to questions, those of `apps allow` and `apps deny`, and the apps that your desktop's \
            permission store denies. A name that the kernel does not vouch for is marked as claimed: any program of \
            yours may have it.
            Examples:
              camclient apps answers
              camclient apps answers --json | jq 'select(.answer == "deny") | .app'
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let answers = try await connection.ask { try await $0.storedAnswers() }
        output.list(answers.map(\.json), answers.isEmpty ? ["Nothing is said of your apps."] : answers.map(\.line))
    }
}

struct AnsweredApp: ParsableArguments {
    @Argument(help: .value("app", "The app's name from `camclient status`.")) var app: String
    @Flag(
        name: .long, inversion: .prefixedNo,
        help:
            "The program that only claims the name, or the one that the kernel vouches for; without either: the vouched one for names that end in .service, else the claiming one."
    )
    var claimed: Bool?
    @OptionGroup var connection: ConnectionOptions

    func set(_ answer: AppAnswer?) async throws {
        // Most apps of a desktop only claim their names.
        let isVouched = claimed.map { !$0 } ?? app.hasSuffix(".service")
        try await connection.ask { try await $0.setAnswer(app: app, isVouched: isVouched, answer) }
    }
}

struct AppAllow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Allow an app cameras, where the policy has apps = \"ask\".",
        usage: "camclient apps allow [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.set(.allow) }
}

struct AppDeny: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny an app all cameras, under every policy; its running sessions stop.",
        usage: "camclient apps deny [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.set(.deny) }
}

struct AppForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove the answer about an app: its next start is a question again.",
        usage: "camclient apps forget [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.set(nil) }
}

extension StoredAnswer {
    fileprivate var line: String {
        let source =
            switch origin {
            case .question: "asked"
            case .user: "said"
            case .permissionStore: "by the portal's permission store"
            }
        let words = [
            answer == .allow ? "allowed" : "denied ", app.printable,
            isVouched || origin == .permissionStore ? nil : "(claimed)", source, since?.printable,
        ]
        return words.compactMap(\.self).joined(separator: "  ")
    }
}

struct Ask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer on this terminal which apps may have cameras.",
        discussion: """
            Where the policy has [access] apps = "ask", the start of an app without an answer is a question: y allows \
            the app cameras from now on, n denies them, and after 30 seconds the answer is no for this time. Each user \
            has one client for questions; on a desktop that is camagent. Ends with Ctrl-C, \
            or with its input. With --json each line is an object, and answers are lines such as "3 allow".
            Examples:
              camclient ask
              camclient apps answers               the answers so far
              camclient apps forget firefox        the next start is a question again
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    private enum News: Sendable {
        case notice(BrokerNotice)
        case typed(String)
        case over
    }

    func run() async throws {
        let interrupts = Interrupts.stream()
        let client = try connection.connect()
        let news = Self.news(arrivals(client.brokerNotices, until: interrupts))
        try await client.answerQuestions()
        if !output.json { Output.notice("camclient: waiting for questions; Ctrl-C ends it.") }
        var asked: AppQuestion?
        var shown = ContinuousClock.now
        for await new in news {
            switch new {
            case .over: return
            case .notice(.question(let question)):
                (asked, shown) = (question, .now)
                show(question)
            case .notice(.questionEnded(let id, let end)):
                if asked?.number == id { asked = nil }
                show(id, end)
            case .notice(.answerChanged(let change)): show(change)
            case .notice(.displaced(_, let by)):
                throw Failure(.refused, "The questions are for somebody else now: \(by).")
            case .notice(.ended(let error)): throw Failure(error)
            case .notice: break
            case .typed(let line):
                // A key that was meant for the previous question must not answer this one.
                if Output.isInputTerminal && .now - shown < .seconds(1) {
                    Output.notice("camclient: that was typed before this question could be read; say it again.")
                    continue
                }
                do {
                    guard let (question, answer) = try Self.answer(line, asked) else { continue }
                    try await client.answer(question, answer)
                } catch { Output.notice("camclient: \(Failure(error)?.text ?? "\(error)")") }
            }
        }
    }

    private static func news(_ arrivals: AsyncStream<BrokerNotice?>) -> AsyncStream<News> {
        AsyncStream { continuation in
            Task.detached {
                for await notice in arrivals { continuation.yield(notice.map { News.notice($0) } ?? .over) }
            }
            Task.detached {
                for await line in inputLines() { continuation.yield(.typed(line)) }
                continuation.yield(.over)
            }
        }
    }

    private static func answer(_ line: String, _ asked: AppQuestion?) throws(Failure) -> (QuestionID, AppAnswer)? {
        let words = line.lowercased().split(separator: " ").map(String.init)
        if words.count == 2, let id = QuestionID(words[0]), let answer = AppAnswer(rawValue: words[1]) {
            return (id, answer)
        }
        guard let word = words.first else { return nil }
        guard let asked else { throw Failure(.usage, "“\(line)”: nothing is asked now.") }
        switch word {
        case "y", "yes": return (asked.number, .allow)
        case "n", "no": return (asked.number, .deny)
        default: throw Failure(.usage, "“\(line)” is not an answer; it takes y or n.")
        }
    }

    private func show(_ question: AppQuestion) {
        let seconds = question.time.components.seconds
        let name = question.isVouched ? "" : ", as it calls itself"
        let program = question.program.map { ", \($0.printable)" } ?? ""
        output.show(
            question,
            [
                "\(question.app.printable)\(name)\(program), wants the camera \(question.camera.printable). "
                    + "May it have cameras? [y/n] (\(seconds) s)"
            ])
    }

    private func show(_ id: QuestionID, _ end: QuestionEnd) {
        let words =
            switch end {
            case .allow: "allowed, until you say otherwise: camclient apps deny"
            case .deny: "denied, until you say otherwise: camclient apps allow"
            case .late: "nobody answered in time: no, for this time"
            case .gone: "the app has left"
            }
        output.show(["question": id, "answer": end.rawValue], [words])
    }

    private func show(_ change: AnswerChange) {
        let words =
            switch change.answer {
            case .allow: "was allowed"
            case .deny: "was denied"
            case nil: "is to be asked about anew"
            }
        let known = [change.process.map { "process \($0)" }, change.program?.printable].compactMap(\.self)
        output.show(
            change,
            [
                "\(change.app.printable) \(words) by \(change.author?.description.printable ?? "a program")"
                    + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
            ])
    }
}
