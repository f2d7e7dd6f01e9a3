package import Arbiter
package import ArbiterProtocol
package import PolicyFile
package import Scenario
import System
package import TomlFile

/// A policy that a client sent: one text, without includes, and the client's name for it.
package struct SentPolicy: Sendable {
    let text: String
    let file: String

    init(_ reader: inout WireReader) throws(BrokerError) {
        try self.init(text: try reader.string("policy"), name: try reader.string("file"))
    }

    package init(text: String, name: String) throws(BrokerError) {
        self.text = text
        guard text.utf8.count <= ClientBound.policyBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The policy has \(text.utf8.count) bytes; one that is sent may have \(ClientBound.policyBytesMax). "
                    + "A longer one is put into the broker's own file, and read with SIGHUP.")
        }
        guard name.utf8.count <= ClientBound.textBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The policy's file has a name of \(name.utf8.count) bytes; it may have \(ClientBound.textBytesMax).")
        }
        file = name.isEmpty ? "the policy" : Journal.printable(name, keepLines: false)
    }

    package func read() throws(FileProblems) -> LoadedPolicy { try PolicyFile.read(text, file: file) }

    package enum Answer: Sendable {
        case wrong(FileProblems)
        case wrongLines(ScenarioError)
        /// The plan is `nil` where it took too long.
        case planned(LoadedPolicy, PolicyPlan?)
        case lines([String]?, Policy)
    }

    /// Reads and plans it, on a copy of the core. Safe on any thread.
    package func plan(
        scenario: String, for user: UInt32, on arbiter: Arbiter, at now: Moment, names: Names,
        while mayGoOn: @escaping @Sendable () -> Bool
    ) -> Answer {
        let loaded: LoadedPolicy
        do throws(FileProblems) { loaded = try read() } catch { return .wrong(error) }
        guard !scenario.isEmpty else {
            return .planned(
                loaded, PolicyPlan(loading: loaded.policy, on: arbiter, at: now, names: names, while: mayGoOn))
        }
        do throws(ScenarioError) {
            // A plan must not read a file with the broker's rights.
            return .lines(
                try Scenario.plan(
                    scenario, on: arbiter, at: now, names: names, user: user, policies: "/nonexistent",
                    loading: loaded.policy, while: mayGoOn), loaded.policy)
        } catch { return .wrongLines(error) }
    }
}
