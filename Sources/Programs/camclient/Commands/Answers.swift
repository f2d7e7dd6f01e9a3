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
