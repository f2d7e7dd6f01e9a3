import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct AppAnswers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answers", abstract: "List which of your apps may have cameras, and which may not.",
        discussion: """
            What you answered when you were asked, what you said without being asked, and what the permission store of \
            your desktop denies. A name that the kernel does not vouch for is marked as claimed: any program of yours may \
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
        help: "Mean the program that only claims the name; --no-claimed: the one that the kernel vouches for.")
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
