import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct AppAnswers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers", abstract: "List which of your apps may have cameras, and which may not.",
        discussion: """
            Your answers to questions, your answers without a question, and the denials in the permission store of \
            your desktop. A name that the kernel does not vouch for is marked as claimed: any program of yours may \
            call itself so.
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
    @Argument(help: .value("app", "The app, as `camclient status` names it.")) var app: String
    @Flag(
        name: .long, inversion: .prefixedNo,
        help: "Mean the app that only claims the name; --no-claimed: the app that the kernel vouches for.")
    var claimed: Bool?
    @OptionGroup var connection: ConnectionOptions

    /// Most apps of a desktop only claim their names, and of few a service's name is meant.
    var isVouched: Bool { claimed.map { !$0 } ?? app.hasSuffix(".service") }

    func say(_ answer: AppAnswer?) async throws {
        try await connection.ask { try await $0.setAnswer(app: app, isVouched: isVouched, answer) }
    }
}

struct AppAllow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Let an app have cameras, where the policy asks you about apps.",
        usage: "camclient apps allow [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.say(.allow) }
}

struct AppDeny: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny an app all cameras, under every policy; what runs is stopped.",
        usage: "camclient apps deny [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.say(.deny) }
}

struct AppForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Forget what was said of an app: where the policy asks, it is asked again.",
        usage: "camclient apps forget [options] <app>")
    @OptionGroup var app: AnsweredApp
    func run() async throws { try await app.say(nil) }
}

extension StoredAnswer {
    fileprivate var line: String {
        var words = [answer == .allow ? "allowed" : "denied ", app.printable]
        if !isVouched, origin != .permissionStore { words.append("(claimed)") }
        switch origin {
        case .question: words.append("asked")
        case .user: words.append("said")
        case .permissionStore: words.append("by the portal's permission store")
        }
        if let since { words.append(since.printable) }
        return words.joined(separator: "  ")
    }
}

struct Ask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer, on this terminal, the questions which apps may have cameras.",
        discussion: """
            Where the policy has [access] apps = "ask", a question comes for each app without an answer when it starts: \
            y lets it have cameras from now on, n denies them, and after 30 seconds without an answer it is no for this \
            time. One client at a time asks each user; on a desktop that is camagent. Ends with Ctrl-C, \
            or with its input. With --json each line is an object, and answers are lines such as "3 allow".
            Examples:
              camclient ask
              camclient apps answers               what was said
              camclient apps forget firefox        to be asked again
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
                asked = question
                shown = .now
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
                if Output.isInputTerminal && .now - shown < Self.readingTime {
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

    /// A key that was meant for the question before this one must not answer this one.
    private static let readingTime = Duration.seconds(1)

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
        if words.isEmpty { return nil }
        guard let asked else { throw Failure(.usage, "“\(line)”: nothing is asked now.") }
        switch words.first {
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
            described: question.json,
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

    /// Somebody else answered, without this user being asked.
    private func show(_ change: AnswerChange) {
        let words =
            switch change.answer {
            case .allow: "was allowed"
            case .deny: "was denied"
            case nil: "is to be asked about anew"
            }
        let known = [change.process.map { "process \($0)" }, change.program?.printable].compactMap(\.self)
        output.show(
            described: change.json,
            [
                "\(change.app.printable) \(words) by \(change.author?.description.printable ?? "a program")"
                    + (known.isEmpty ? "" : " (\(known.joined(separator: ", ")))")
            ])
    }
}
