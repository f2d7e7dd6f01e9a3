import ArbiterProtocol
import ArgumentParser
import Camarb
import Synchronization
import Workbench

/// What a shell offers behind `--camera`: the ids of the broker's cameras, where there is a broker that says them at once.
enum CameraCompletion {
    /// Somebody waits for it between two key presses.
    private static let timeMax = Duration.milliseconds(500)
    private static let names = Mutex<[String]>([])

    /// The completion of bash expands each word, and would run what a broker calls a camera: a camera that may be called
    /// otherwise than in plain words is not offered.
    static let kind = CompletionKind.custom { _, _, _ in names.withLock { $0 }.filter(PlainWord.isOne).map(shellWord) }

    /// To zsh a description comes behind a colon, and identities of cameras have colons of their own.
    private static func shellWord(_ name: String) -> String {
        CompletionShell.requesting == .zsh ? name.replacing(":", with: "\\:") : name
    }

    /// A shell asks by this word, and has no ear for what goes wrong.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

    /// Asks the broker that the command line names; nothing where none answers in time.
    static func prepare(_ arguments: [String]) async {
        var address: String?
        for (index, word) in arguments.enumerated() {
            for flag in ["--socket", "--address"] {
                if word == flag, index + 1 < arguments.count { address = arguments[index + 1] }
                if word.hasPrefix("\(flag)=") { address = String(word.dropFirst(flag.count + 1)) }
            }
        }
        let (answers, continuation) = AsyncStream.makeStream(of: [String].self)
        Task.detached { [address] in
            let status = try? await CameraClient.connect(address: address, reconnects: false).status()
            continuation.yield(status?.cameras.map(\.camera.name) ?? [])
        }
        Task.detached {
            try? await Task.sleep(for: timeMax)
            continuation.yield([])
        }
        for await answer in answers {
            names.withLock { $0 = answer }
            return
        }
    }
}
