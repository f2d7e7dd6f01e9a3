import Arbiter
import ArbiterProtocol
import Bus
import PolicyFile
import Scenario
import System
import TomlFile

/// The policy in force, its files, and policies that clients send.
///
/// A policy that was sent is read, and its plan made, beside the loop, on a copy of the core. It is put in force only if the core
/// has not taken a step since, so that the plan comes true.
final class PolicyManager: BrokerPart {
    /// Why the policy of the options is not in force; empty where it is.
    private(set) var trouble = "" { didSet { broker.properties?.degradedMayHaveChanged() } }
    /// Of the policy in force; empty for the built-in one.
    private var files: [String] = []
    private var origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)] = []
    /// How the policy in force was loaded by hand, as a sentence.
    private(set) var byHand: String?
    /// `Policy.hash` of the policy in force, computed for its first reader: a third of the start's work otherwise.
    private(set) lazy var hash = broker.arbiter.policy.hash
    private var options: BrokerOptions { broker.options }
    private var journal: Journal { broker.journal }

    func first() -> Policy? {
        guard let path = options.policy else {
            trouble = "No policy was given (--policy FILE): first come, first served."
            return nil
        }
        do throws(FileProblems) {
            let loaded = try readPolicy(path)
            (files, origins) = (loaded.files, loaded.sortedOrigins)
            return loaded.policy
        } catch {
            trouble = "\(shown(path)) is not a valid policy, so it is first come, first served.\n\(error)"
            journal.send(.error, "\(error)\nThe built-in policy is in force: first come, first served.")
            return nil
        }
    }

    /// SIGHUP. A bad file never replaces a good policy.
    @discardableResult
    func reload() -> FileProblems? {
        guard let path = options.policy else {
            if byHand != nil {
                put(.firstCome, [], [], nil)
            } else {
                journal.send(.notice, "asked to read the policy again, but none was given (--policy FILE)")
            }
            return nil
        }
        ServiceManager.reloading()
        defer { ServiceManager.ready(status: broker.publisher.statusLine) }
        do throws(FileProblems) {
            let loaded = try readPolicy(path)
            put(loaded.policy, loaded.files, loaded.sortedOrigins, nil)
            return nil
        } catch {
            trouble =
                "\(shown(path)) is not a valid policy; “\(broker.arbiter.policy.name)”, which was in force, still is.\n\(error)"
            journal.send(
                .error, "\(error)\nThe policy “\(broker.arbiter.policy.name)” stays in force. Nothing changed.")
            return error
        }
    }

    private func put(
        _ policy: Policy, _ files: [String], _ origins: [(part: PolicyPart, origin: LoadedPolicy.Origin)],
        _ byHand: String?
    ) {
        trouble = ""
        (self.files, self.origins, self.byHand, hash) = (files, origins, byHand, policy.hash)
        desktops.calendar?.look(at: policy)
        broker.step(.policyLoaded(policy))
        desktops.displaceShutOut()
        desktops.pressure?.policyChanged()
        let whence = byHand.map { ": \($0)" } ?? ""
        journal.send(
            .notice, "the policy “\(policy.name)” is in force\(whence)",
            [("CAMARB_POLICY", policy.name), ("CAMARB_POLICY_HASH", hash)])
    }

    /// The policy with its drop-ins, whose usual folder need not be there.
    private func readPolicy(_ path: String) throws(FileProblems) -> LoadedPolicy {
        try PolicyFile.load(
            path: path, dropIns: options.dropIns,
            dropInsRequired: options.policyFolder != BrokerOptions.usualPolicyFolder, accounts: MachineAccounts())
    }

    private func shown(_ path: String) -> String { Journal.printable(path, keepLines: false) }

    func answer() -> [WireValue] {
        let byPart = Dictionary(origins.map { ($0.part, $0.origin) }) { first, _ in first }
        let text = PolicyWriter.text(broker.arbiter.policy) { byPart[$0].map { "\($0.file):\($0.line)" } }
        return [
            .string(text), .strings(files),
            origins.map { part, origin in
                PolicyOrigin {
                    ($0.table, $0.name, $0.file, $0.line) = (part.table, part.name, origin.file, UInt64(origin.line))
                }
            }
            .wireValue,
        ]
    }

    // MARK: Policies that clients send

    /// Plans of one load that steps of the core overtake: some milliseconds each, and in a broker that decides more often than that
    /// all the time a plan means nothing.
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
        if trust.isTrusted(request.client) { return }
        throw BrokerError(
            .notTrusted,
            "A policy decides about every user's apps; \(trust.words) may load one, not user \(request.client.uid).")
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
                put(loaded, of: sent, by: client.uid)
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
        if let problems = reload() {
            throw BrokerError(
                .invalidValue, "The policy in force stays, because the broker's own files have a mistake:\n\(problems)")
        }
    }

    /// Puts a policy in force until the broker's own files are read again.
    private func put(_ loaded: LoadedPolicy, of sent: SentPolicy, by user: UInt32) {
        // The lines are those of the text that was sent, which its file need not have.
        var origins = loaded.sortedOrigins
        for index in origins.indices { origins[index].origin.file += ", as it was sent" }
        let own = options.policy.map(shown) ?? "the built-in policy"
        put(
            loaded.policy, loaded.files.map { "\($0), as it was sent" }, origins,
            "loaded by hand by user \(user) from \(sent.file), in the place of \(own): a reload or a restart goes back to that"
        )
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
