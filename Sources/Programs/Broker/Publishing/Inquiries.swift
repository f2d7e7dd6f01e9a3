import Arbiter
import ArbiterProtocol
import Bus
import Explain
import Scenario
import System

import struct Explain.Explanation

/// Questions that are answered from the core's state: what there is, why something was decided, and what would be.
final class Inquiries: BrokerPart {
    let slow: SlowQuestions
    var pages = SessionPages()

    init(_ broker: Broker) throws(SystemFault) {
        let trust = broker.trust
        slow = try SlowQuestions(on: broker.loop) { trust.isTrusted($0) }
        super.init(of: broker)
    }

    // MARK: Why

    /// Processor time of one explanation, in nanoseconds: its bound of attempts is met before that on most machines, and a
    /// caller waits at the most so long for each that asked before.
    static let explainTimeMax: Int64 = 100_000_000

    func explain(_ id: DecisionID, _ request: Request) throws(BrokerError) {
        try ask(request) { [self] in
            let (history, arbiter) = (broker.history, broker.arbiter)
            return { () -> (explanation: Explanation?, isInTime: Bool) in
                let time = ProcessorTime(Self.explainTimeMax)
                let explanation = history.explain(id, of: arbiter) { time.isLeft }
                return (explanation, time.isLeft)
            }
        } answer: { [self] (found) throws(BrokerError) in
            try answer(found.explanation, id, isInTime: found.isInTime, for: request.client)
        }
    }

    /// Answers the call with the result of work beside the loop.
    func ask<Found: Sendable>(
        _ request: Request, prepare: @escaping () throws(BrokerError) -> @Sendable () -> Found,
        answer: @escaping (Found) throws(BrokerError) -> [WireValue]
    ) throws(BrokerError) {
        request.answerLater()
        try slow.ask(request.client, prepare: prepare) { (result: Result<Found, BrokerError>) in
            do throws(BrokerError) { request.message.answer(try answer(try result.get())) } catch {
                request.message.answer(error)
            }
        }
    }

    private func answer(
        _ found: Explanation?, _ id: DecisionID, isInTime: Bool, for client: BrokerClient
    ) throws(BrokerError) -> [WireValue] {
        guard let explanation = found else {
            guard isInTime else {
                throw BrokerError(
                    .limitExceeded,
                    "Decision \(id) takes more than \(Self.explainTimeMax / 1_000_000) ms to live through again.")
            }
            if id == 0 { throw BrokerError(.unknownDecision, "Nothing has been decided yet.") }
            throw BrokerError(
                .unknownDecision,
                id <= broker.arbiter.lastDecision
                    ? "Decision \(id) has expired, or decided nothing about a session; the last \(History.decisionsMax) are kept."
                    : "There has been no decision \(id) yet; the latest is \(broker.arbiter.lastDecision).")
        }
        let verdicts = explanation.verdicts.filter { verdict in
            verdict.app.map { trust.mayKnow($0, client) } ?? trust.isTrusted(client)
        }
        guard !verdicts.isEmpty || explanation.verdicts.isEmpty else {
            throw BrokerError(.accessDenied, "Decision \(explanation.decision) is about another user's apps.")
        }
        let lines = verdicts.map { line($0, client) }
        let notified = verdicts.map { _ in client.uid }
        let title = "Decision \(explanation.decision)\(happened(explanation, notified, client).map { ": \($0)" } ?? "")"
        let summary = lines.isEmpty ? ["\(title) changed nothing for any session."] : [title] + lines
        return [
            .string(summary.joined(separator: "\n")),
            .dictionaries(verdicts.map { wire($0, of: explanation.decision, client) }),
        ]
    }

    private func line(_ verdict: Explanation.Verdict, _ client: BrokerClient) -> String {
        let app = verdict.app?.name ?? "session \(verdict.session.rawValue)"
        let against = verdict.opponent.map { ", against \(trust.shown($0, to: client).description)" } ?? ""
        return "\(app): \(verdict.outcome.description) because “\(verdict.rule)”\(against)"
    }

    /// The event as a scenario line; `nil` where it is about apps that the client may not know.
    private func happened(_ explanation: Explanation, _ notified: [UInt32], _ client: BrokerClient) -> String? {
        if let source = explanation.silenced { return "what the \(source.rawValue) that left had said holds no more" }
        if explanation.event == .timePassed { return "a deadline came" }
        guard
            trust.isTrusted(client) || broker.publisher.isAudible(explanation.event, notified: notified, to: client.uid)
        else { return nil }
        return ScenarioWriter(names: broker.publisher.names(), origin: broker.origin).text(of: explanation.event)
    }

    private func wire(_ verdict: Explanation.Verdict, of decision: DecisionID?, _ client: BrokerClient)
        -> WireDictionary
    {
        // The verdict names its opponent, and no other app of another user.
        let holders = verdict.stops.filter { trust.mayKnow($0, client) || $0 == verdict.opponent }
            .map { trust.shown($0, to: client).description }
        let changes = verdict.changedBy.filter { change in
            change.allSatisfy { alteration in
                if case .app(let app) = alteration.of { trust.mayKnow(app, client) } else { true }
            }
        }
        var wire: WireDictionary = [
            "session": .uint64(verdict.session.rawValue), "outcome": .string(verdict.outcome.description),
            "rule": .string(verdict.rule), "read": .strings(verdict.read.map { "\($0.key) = \($0.value)" }),
            "changedBy": .strings(changes.map(\.words)), "stops": .strings(holders),
            "searched": .string(verdict.searched?.words ?? "nothing: the verdict did not outlast its own step"),
        ]
        if let decision { wire["decision"] = .uint64(decision) }
        if let app = verdict.app { wire["app"] = .string(app.name) }
        if let opponent = verdict.opponent { wire["opponent"] = .string(trust.shown(opponent, to: client).description) }
        return wire
    }

    // MARK: How an app stands

    /// Sessions of one answer: an app has one or two.
    private static let standingsMax = 16

    /// - Parameter name: an app's, alone or with its user behind an `@`; or a session's.
    func explain(app name: String, _ request: Request) throws(BrokerError) {
        try name.require(bytesMax: ClientBound.textBytesMax, "The name")
        let client = request.client
        try ask(request) { [self] in
            let (arbiter, now) = (broker.arbiter, Broker.now())
            let session = broker.publisher.names().session(name)
            let (uid, isTrusted) = (client.uid, trust.isTrusted(client))
            return { () -> [Standing] in
                let time = ProcessorTime(Self.explainTimeMax)
                var left = Self.standingsMax
                return arbiter.standings(
                    where: { id, app in
                        guard left > 0, isTrusted || app.user == uid else { return false }
                        guard id == session || app.name == name || "\(app.name)@\(app.user)" == name else {
                            return false
                        }
                        left -= 1
                        return true
                    }, at: now, while: { time.isLeft })
            }
        } answer: { [self] (standings) throws(BrokerError) in
            try answer(standings, name, for: client)
        }
    }

    private func answer(
        _ standings: [Standing], _ name: String, for client: BrokerClient
    ) throws(BrokerError) -> [WireValue] {
        guard !standings.isEmpty else {
            throw BrokerError(
                .unknownSession, "No app or session of yours that asks for a camera now is called “\(name)”.")
        }
        let summary = ["How \(name) stands now"] + standings.map { line($0.verdict, client) }
        return [.string(summary.joined(separator: "\n")), .dictionaries(standings.map { wire($0, client) })]
    }

    private func wire(_ standing: Standing, _ client: BrokerClient) -> WireDictionary {
        var wire = wire(standing.verdict, of: nil, client)
        wire["camera"] = .string(standing.camera.name)
        wire["since"] = .int64(standing.since.map(Desktops.realTime) ?? 0)
        wire["hasWon"] = .boolean(standing.hasWon)
        wire["limits"] = .dictionaries(
            standing.limits.map { limit in
                [
                    "kind": .string(limit.kind.rawValue), "until": .int64(Desktops.realTime(limit.until)),
                    "app": .string(limit.app.map { trust.shown($0, to: client).description } ?? ""),
                    "rule": .string(limit.rule),
                ]
            })
        return wire
    }

    // MARK: What if

    /// Processor time of one plan, in nanoseconds: a thousand steps, or the search for changes to one verdict. Behind a full queue
    /// of them the last one waits less than two seconds.
    static let planTimeMax: Int64 = 50_000_000

    func plan(_ scenario: String, _ request: Request) throws(BrokerError) {
        let client = request.client
        try ask(request) { [self] () throws(BrokerError) in
            try requireAlone(client)
            let (arbiter, now, names, user) = (broker.arbiter, Broker.now(), broker.publisher.names(), client.uid)
            let (folder, dropIns) = (planFolder(for: client), broker.options.dropIns)
            return { () -> Result<[String]?, ScenarioError> in
                let time = ProcessorTime(Self.planTimeMax)
                return Result { () throws(ScenarioError) in
                    try Scenario.plan(
                        scenario, on: arbiter, at: now, names: names, user: user, policies: folder, dropIns: dropIns,
                        while: { time.isLeft })
                }
            }
        } answer: { (planned) throws(BrokerError) in
            guard let lines = try planned.mapError({ BrokerError(.invalidValue, "\($0)") }).get() else {
                throw BrokerError(
                    .limitExceeded,
                    "The plan takes more than \(Self.planTimeMax / 1_000_000) ms to work out; ask with fewer lines.")
            }
            return [.string(lines.joined(separator: "\n"))]
        }
    }

    /// A plan names every app it touches.
    func requireAlone(_ client: BrokerClient) throws(BrokerError) {
        guard clients.values.allSatisfy({ $0.app.map { trust.mayKnow($0, client) } ?? true }) else {
            throw BrokerError(.accessDenied, "Other users have apps here, and a plan would show them; root may ask.")
        }
    }

    /// A plan that loads a policy must not read a file with the broker's rights.
    private func planFolder(for client: BrokerClient) -> String {
        guard trust.isTrusted(client), let path = broker.options.policy, let slash = path.lastIndex(of: "/") else {
            return "/nonexistent"
        }
        return String(path[..<slash])
    }
}
