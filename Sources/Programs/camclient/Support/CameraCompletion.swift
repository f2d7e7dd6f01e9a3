import ArbiterProtocol
import ArgumentParser
import Camarb
import Synchronization

/// What a shell offers behind `--camera`: the ids of the broker's cameras, where there is a broker that says them at once.
enum CameraCompletion {
    /// Somebody waits for it between two key presses.
    private static let timeMax = Duration.milliseconds(500)
    private static let names = Mutex<[String]>([])

    static let kind = CompletionKind.saidByOthers { names.withLock { $0 } }

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

extension CompletionKind {
    /// The one way in which words come to a shell that somebody else says: the completion of bash expands each of them, and
    /// would run what a broker calls a camera. Whoever may be called otherwise is not offered.
    static func saidByOthers(_ words: @escaping @Sendable () -> [String]) -> CompletionKind {
        .custom { _, _, _ in words().filter(PlainWord.isOne).map(\.described) }
    }
}

extension String {
    /// For zsh, to which words come with a description behind a colon: identities of cameras have colons of their own.
    fileprivate var described: String {
        guard CompletionShell.requesting == .zsh else { return self }
        return split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
    }
}
