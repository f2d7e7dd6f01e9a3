import ArgumentParser
import Glibc
import System

struct PolicyPlay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Serve a page on which a policy and a scenario are typed, and the outcome follows.",
        discussion: """
            Prints the page's address, and serves it to this machine until Ctrl-C. At each pause in typing the page shows \
            what is wrong and where, what the scenario comes to, as a text and as a picture, why each decision was made, and \
            what comes next. It listens on 127.0.0.1 alone, and answers only who knows the address, which is another each \
            time. Policies and scenarios, and what they include, come from the folder; nothing is written there, and \
            nothing outside is read.
            Examples:
              camclient policy play
              camclient policy play policies --port 8080
            """)

    @Argument(help: ArgumentHelp("The folder to take policies and scenarios from.", valueName: "folder")) var folder =
        "."
    @Option(help: ArgumentHelp("The port to listen on; 0: any that is free.", valueName: "number")) var port: UInt16 = 0

    func run() async throws {
        guard let program = Self.program() else {
            throw Failure(.file, "camplay, which serves the page, is neither beside camclient nor in libexec.")
        }
        // Blocked here so that one thread takes them; there nobody would.
        Interrupts.end()
        let line: [String] = [program, "--port", "\(port)", "--", folder]
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        execv(program, &words)
        let number = errno
        for word in words { free(word) }
        throw Failure.file(program, "cannot be started", number)
    }

    /// Beside this program, or where a package puts it.
    private static func program() -> String? {
        let own = OwnProcess.program
        guard let slash = own.lastIndex(of: "/") else { return nil }
        return ["", "../libexec/camarb/"].map { own[...slash] + $0 + "camplay" }.first { access($0, X_OK) == 0 }
    }
}
