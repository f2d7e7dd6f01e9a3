package import Arbiter
package import ArbiterProtocol
import Bus
package import PolicyFile
package import Scenario
import System
package import TomlFile

/// A policy that a client sent: one text, without includes, and what the client calls it.
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
        // It goes to terminals and to the journal, also of others.
        file = name.isEmpty ? "the policy" : Journal.printable(name, keepLines: false)
    }

    package func read() throws(FileProblems) -> LoadedPolicy { try PolicyFile.read(text, file: file) }

    package enum Answer: Sendable {
        case wrong(FileProblems)
        case wrongLines(ScenarioError)
        /// A plan is nil where it took too long.
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
            // Nobody reads a file with the broker's rights by planning.
            return .lines(
                try Scenario.plan(
                    scenario, on: arbiter, at: now, names: names, user: user, policies: "/nonexistent",
                    loading: loaded.policy, while: mayGoOn), loaded.policy)
        } catch { return .wrongLines(error) }
    }
}

/// Policies that clients send: what would become of whom, and putting one in force. A policy is read, and its plan
/// made, beside the loop, on a copy of the core. It is put in force only if the core has not taken a step since: so
/// what was planned is what happens.
final class PolicyLoading: BrokerPart {

    /// How often a load whose plan a step overtook is planned again: some milliseconds each, and a broker that decides more
    /// often than that all the time is one whose plan would say nothing.
    private static let attemptsMax = 16

    private static var tooLong: BrokerError {
        BrokerError(.limitExceeded, "The plan takes more than \(Inquiries.planTimeMax / 1_000_000) ms to work out.")
    }

    private static func invalid(_ problems: FileProblems) -> BrokerError {
        BrokerError(.invalidValue, "There is no policy in it:\n\(problems)")
    }

    func plan(_ sent: SentPolicy, scenario: String, _ request: Request) throws(BrokerError) {
        let client = request.client
        try broker.inquiries.ask(request) { [self] () throws(BrokerError) in
            try broker.inquiries.requireAlone(client)
            return work(sent, scenario: scenario, for: client.uid)
        } answer: { (answer: SentPolicy.Answer) throws(BrokerError) in
            switch answer {
            case .wrong(let problems): throw Self.invalid(problems)
            case .wrongLines(let error): throw BrokerError(.invalidValue, "\(error)")
            case .planned(_, nil), .lines(nil, _): throw Self.tooLong
            case .planned(let loaded, let plan?):
                return [
                    .string(plan.lines.joined(separator: "\n")), plan.changes.map(\.planned).wireValue,
                    .string(loaded.policy.hash), .string(plan.token),
                ]
            case .lines(let lines?, let policy):
                return [
                    .string(lines.joined(separator: "\n")), .dictionaries([]), .string(policy.hash), .string(""),
                ]
            }
        }
    }

    private func work(_ sent: SentPolicy, scenario: String, for user: UInt32) -> @Sendable () -> SentPolicy.Answer {
        let (arbiter, now, names) = (broker.arbiter, Broker.now(), broker.publisher.names())
        return {
            let time = ProcessorTime(Inquiries.planTimeMax)
            return sent.plan(scenario: scenario, for: user, on: arbiter, at: now, names: names) { time.isLeft }
        }
    }

    func load(_ sent: SentPolicy, planned: String, _ request: Request) throws(BrokerError) {
        try requireTrusted(request)
        request.answerLater()
        try attempt(sent, planned: planned, request, left: Self.attemptsMax)
    }

    private func requireTrusted(_ request: Request) throws(BrokerError) {
        guard broker.trust.isTrusted(request.client) else {
            throw BrokerError(
                .notTrusted,
                "A policy decides about every user's apps; \(broker.trust.words) may load one, not user \(request.client.uid)."
            )
        }
    }

    private func attempt(_ sent: SentPolicy, planned: String, _ request: Request, left: Int) throws(BrokerError) {
        let client = request.client
        var step: UInt64 = 0
        try broker.inquiries.slow.ask(client) { [self] () throws(BrokerError) in
            step = broker.stepsTaken
            return work(sent, scenario: "", for: client.uid)
        } done: { [self] (result: Result<SentPolicy.Answer, BrokerError>) in
            do throws(BrokerError) {
                guard case .planned(let loaded, let plan) = try result.get() else {
                    if case .success(.wrong(let problems)) = result { throw Self.invalid(problems) }
                    return
                }
                if !planned.isEmpty {
                    guard let plan else { throw Self.tooLong }
                    guard plan.token == planned else { throw Self.changed(plan) }
                    guard step == broker.stepsTaken else {
                        guard left > 1 else { throw Self.overtaken }
                        return try attempt(sent, planned: planned, request, left: left - 1)
                    }
                }
                broker.policy.load(loaded, by: LoadedByHand(user: client.uid, file: sent.file))
                request.message.answer([(plan?.changes.map(\.planned) ?? []).wireValue, .string(loaded.policy.hash)])
            } catch { request.message.answer(error) }
        }
    }

    private static func changed(_ plan: PolicyPlan) -> BrokerError {
        BrokerError(
            .planChanged,
            "The plan is another one by now, and nothing was loaded. It would be:\n"
                + plan.lines.filter { $0.hasPrefix("#") }.joined(separator: "\n"))
    }

    private static var overtaken: BrokerError {
        BrokerError(
            .planChanged,
            "The broker decided something during each of \(attemptsMax) plans, and nothing was loaded; ask again.")
    }

    func unload(_ request: Request) throws(BrokerError) {
        try requireTrusted(request)
        if let problems = broker.policy.reload() {
            throw BrokerError(
                .invalidValue, "The policy in force stays, because the broker's own files have a mistake:\n\(problems)")
        }
    }
}

extension PolicyPlan.Change {
    var planned: PlannedChange {
        PlannedChange {
            ($0.session, $0.app, $0.camera, $0.kind) = (session, app.name, camera, kind.rawValue)
            ($0.rule, $0.after, $0.recording, $0.words) = (rule, after, recording, words)
        }
    }
}
