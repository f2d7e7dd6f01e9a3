import CLinux
import Camarb
import Explain
import Glibc
import PolicyFile
import Synchronization
import System

/// The values of the shell commands' arguments: words of the wire, and names that the broker and its policy know, which are read
/// anew for each word that somebody completes.
final class ShellFacts: Sendable {
    private struct Known: Sendable {
        var apps: [String] = []
        var cameras: [String] = []
        var loginSessions: [String] = []
        var policy: Policy?
    }

    private let client: CameraClient
    private let known = Mutex(Known())
    private let bell = camarb_eventfd()

    init(_ client: CameraClient) { self.client = client }

    deinit { close(bell) }

    /// - Parameter typed: the words before the argument, the command first. Called on a thread that may wait.
    func values(of argument: String, behind typed: [String]) -> [String] {
        let known = asked()
        return words(of: argument, typed, known).filter(PlainWord.isOne)
    }

    private func words(of argument: String, _ typed: [String], _ known: Known) -> [String] {
        switch (typed.first, argument) {
        case (_, "APP"): known.apps
        case (_, "CAMERA"): known.cameras
        case (_, "LAYOUT"): Presence.wireNames
        case (_, "LEVEL"): SystemPressure.allCases.map(\.wireName)
        case (_, "STATE"): ShellCommand.loginStates
        case ("login-session", _): known.loginSessions
        case ("mode", _): known.policy?.modes.map(\.name) ?? []
        case ("attribute", "NAME"): known.policy?.attributes.map(\.name) ?? []
        case ("attribute", "VALUE"): known.policy?.attributes.first { $0.name == typed.last }?.values ?? []
        default: []
        }
    }

    private func asked() -> Known {
        Task.detached { [self] in
            let found = await ask()
            known.withLock { $0 = found }
            camarb_eventfd_signal(bell)
        }
        var answered = pollfd(fd: bell, events: Int16(POLLIN), revents: 0)
        _ = camarb_poll(&answered, 1, CameraCompletion.patience.wholeNanoseconds)
        camarb_eventfd_drain(bell)
        return known.withLock { $0 }
    }

    /// Each question by itself: a user may not have the answers to all.
    private func ask() async -> Known {
        var found = Known()
        if let status = try? await client.status() {
            found.cameras = status.cameras.map(\.camera.name)
            found.loginSessions = status.loginSessions.map(\.id)
            found.apps = status.sessions.map(\.app.description)
        }
        found.apps += (try? await client.listClients().map(\.app)) ?? []
        if let text = try? await client.policyInForce().text,
            let policy = try? PolicyFile.parse(text, file: "the policy in force", accounts: MachineAccounts())
        {
            found.policy = policy
            found.apps += (policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)).compactMap(\.appName)
        }
        return found
    }
}
