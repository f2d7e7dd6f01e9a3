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
    private var pages = SessionPages()

    init(_ broker: Broker) throws(SystemFault) {
        let trust = broker.trust
        slow = try SlowQuestions(on: broker.loop) { trust.isTrusted($0) }
        super.init(of: broker)
    }

    var isWorkingAside: Bool { slow.isBusy }

    // MARK: Who holds what

    func answerStatus(_ request: Request) {
        let page = sessionPage(after: SessionID(0), for: request.client)
        let status = status(for: request.client, page)
        request.answer("a{sv}aa{sv}aa{sv}", or: status.answer) { writer in
            writer.append(status)
            writer.append(each: status.cameras)
            page.write(to: &writer)
        }
    }

    private func status(for client: BrokerClient, _ page: SessionPages.Page) -> BrokerStatus {
        let arbiter = broker.arbiter
        let status = arbiter.overview()
        let company = arbiter.company(atMost: Self.companyMax)
        return BrokerStatus {
            ($0.version, $0.moment, $0.decision) = (Release.version, Broker.now(), arbiter.lastDecision)
            ($0.policy, $0.policyHash) = (status.policy, broker.policy.hash)
            $0.policyByHand = broker.policy.byHand?.sentence(broker.options.policy) ?? ""
            $0.degraded = broker.publisher.degraded
            ($0.isPrivate, $0.isOwnPrivate) = (status.isPrivate, broker.permissions.isPrivate(client.uid))
            ($0.isAsleep, $0.presenceKnown) = (status.isAsleep, status.isPresenceKnown)
            ($0.mode, $0.modeSetBy) = (status.mode ?? "", status.modeSetBy?.rawValue ?? "")
            $0.pressure = status.pressure
            tellDesktop(&$0, client)
            $0.budgets = clients.budgetUses(for: client)
            if let choice = arbiter.operatorChoice() {
                $0.override = trust.shown(choice.app, to: client)
                // The sentence may name apps of all users.
                $0.overrideTrouble = trust.isTrusted(client) ? choice.trouble : ""
            }
            // As given on the command line.
            $0.cameras = cameras.order.compactMap { link in
                status.cameras.first { $0.id == link.camera }.map { camera(of: $0, link, company, for: client) }
            }
            ($0.sessions, $0.hasMoreSessions) = (page.sessions, page.hasMore)
        }
    }

    private func tellDesktop(_ status: inout BrokerStatus, _ client: BrokerClient) {
        status.placements = desktops.placements(for: client)
        status.unknown = desktops.unknownFacts(for: client)
        status.speakers = desktops.speakers(for: client)
        status.loginSessionsUnknown = desktops.logins?.trouble ?? ""
        status.loginSessions = desktops.logins?.status { trust.isTrusted(client) || $0 == client.uid } ?? []
        status.pressureSaid = desktops.facts.pressure(by: .trusted) ?? .nominal
        status.pressureMeasured = desktops.facts.pressure(by: .gauge)
        status.pressureWhy = desktops.pressure?.why ?? ""
        status.pressureTrouble = desktops.pressure?.trouble ?? ""
        status.calendarMode = desktops.calendar?.mode ?? ""
        status.calendarUntil = desktops.calendar?.changeWords ?? ""
    }

    private func camera(
        of camera: Status.CameraStatus, _ link: CameraLink, _ company: [CameraID: Status.Company],
        for client: BrokerClient
    ) -> ArbiterProtocol.CameraStatus {
        ArbiterProtocol.CameraStatus {
            ($0.camera, $0.name, $0.position) = (camera.id, camera.capabilities.name, camera.capabilities.position)
            ($0.present, $0.isPrivate, $0.generation) = (camera.isPresent, camera.isPrivate, link.generation)
            $0.tenancy = camera.tenancy
            if let app = camera.holderApp {
                $0.holder = trust.shown(app, to: client)
                if trust.mayKnow(app, client) { $0.session = camera.holder }
            }
            $0.waiting = (company[camera.id]?.waiting ?? []).map { trust.shown($0, to: client) }
            $0.sharers = (company[camera.id]?.watching ?? []).map { trust.shown($0, to: client) }
            $0.outside = link.outside
            // That a program streams is told before the look that found it has said that it is not merely open.
            if link.outside == nil { $0.openIn = link.openIn }
            ($0.unwatched, $0.bypass, $0.fault) = (link.node.trouble, link.bypass, link.fault)
        }
    }

    /// Names of apps that wait for a camera, or watch it, in a status: as many as a person reads.
    static let companyMax = 64

    // MARK: Sessions, page by page

    func answerSessions(after last: SessionID, _ request: Request) {
        let page = sessionPage(after: last, for: request.client)
        request.answer("aa{sv}b", or: [page.sessions.wireValue, .boolean(page.hasMore)]) { writer in
            page.write(to: &writer)
            writer.append(page.hasMore)
        }
    }

    /// Sessions in the order of their ids, `SessionPages.sessionsMax` at the most.
    private func sessionPage(after last: SessionID, for client: BrokerClient) -> SessionPages.Page {
        let audience: SessionPages.Audience = trust.isTrusted(client) ? .everything : .user(client.uid)
        if let page = pages.find(audience, after: last, step: broker.stepsTaken) { return page }
        // One more than a page has, to see whether there are more.
        let found = broker.arbiter.sessions(after: last, atMost: SessionPages.sessionsMax + 1)
        let page = SessionPages.Page(
            sessions: found.prefix(SessionPages.sessionsMax).map { session(of: $0, for: client) },
            hasMore: found.count > SessionPages.sessionsMax)
        pages.keep(page, audience, after: last, step: broker.stepsTaken)
        return page
    }

    /// Of another user's session only that it is there, where, and whether it runs: status says as much of the holder.
    private func session(of status: Status.SessionStatus, for client: BrokerClient) -> ArbiterProtocol.SessionStatus {
        ArbiterProtocol.SessionStatus {
            ($0.session, $0.camera) = (status.id, status.camera)
            let isKnown = trust.mayKnow(status.app, client)
            $0.state =
                switch status.state {
                case .stopped: .stopped
                // Its request is being served: it is neither interrupted nor restricted.
                case .starting: .running
                case .running: status.access == .all || !isKnown ? .running : .restricted
                case .interrupted: .interrupted
                }
            guard isKnown else { return }
            ($0.app, $0.access, $0.causes) = (.app(status.app.name), status.access, status.causes)
            ($0.rule, $0.rank, $0.right) = (status.rule ?? "", status.rank, status.right.rawValue)
            ($0.presence, $0.focused) = (status.presence, status.isFocused)
            ($0.recording, $0.isPaused) = (status.recording, status.isPaused)
            $0.isWeak = clients.owner(of: status.id)?.isWeak ?? false
        }
    }

    // MARK: Why

    /// What an explanation may take of the thread that searches, in nanoseconds: its bound of attempts is met before that
    /// on most machines, and a caller waits at the most so long for each that asked before.
    static let explainTimeMax: Int64 = 100_000_000

    private struct Found: Sendable {
        var explanation: Explanation?
        var isInTime: Bool
    }

    func explain(_ id: DecisionID, _ request: Request) throws(BrokerError) {
        try ask(request) { [self] in
            let (history, arbiter) = (broker.history, broker.arbiter)
            return { () -> Found in
                let time = ProcessorTime(Self.explainTimeMax)
                let explanation = history.explain(id, of: arbiter) { time.isLeft }
                return Found(explanation: explanation, isInTime: time.isLeft)
            }
        } answer: { [self] (found) throws(BrokerError) in
            try answer(found, id, for: request.client)
        }
    }

    /// Asks a slow question, and answers the call with what comes of it.
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

    private func answer(_ found: Found, _ id: DecisionID, for client: BrokerClient) throws(BrokerError) -> [WireValue] {
        guard let explanation = found.explanation else {
            guard found.isInTime else {
                throw BrokerError(
                    .limitExceeded,
                    "Decision \(id) takes more than \(Self.explainTimeMax / 1_000_000) ms to live through again.")
            }
            if id == 0 { throw BrokerError(.unknownDecision, "Nothing has been decided yet.") }
            let expired = id <= broker.arbiter.lastDecision
            throw BrokerError(
                .unknownDecision,
                expired
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
        let told = verdicts.map { _ in client.uid }
        let title = "Decision \(explanation.decision)\(happened(explanation, told, client).map { ": \($0)" } ?? "")"
        let summary = lines.isEmpty ? ["\(title) changed nothing for any session."] : [title] + lines
        return [
            .string(summary.joined(separator: "\n")),
            .dictionaries(verdicts.map { wire($0, of: explanation.decision, client) }),
        ]
    }

    func line(_ verdict: Explanation.Verdict, _ client: BrokerClient) -> String {
        let app = verdict.app?.name ?? "session \(verdict.session.rawValue)"
        let against = verdict.opponent.map { ", against \(trust.shown($0, to: client).description)" } ?? ""
        return "\(app): \(verdict.outcome.description) because “\(verdict.rule)”\(against)"
    }

    /// The event as a scenario line; nil where it is about apps that the client may not know.
    private func happened(_ explanation: Explanation, _ told: [UInt32], _ client: BrokerClient) -> String? {
        if let source = explanation.silenced { return "what the \(source.rawValue) that left had said holds no more" }
        if explanation.event == .timePassed { return "a deadline came" }
        guard trust.isTrusted(client) || broker.publisher.isAudible(explanation.event, told: told, to: client.uid)
        else { return nil }
        return ScenarioWriter(names: broker.publisher.names(), origin: broker.origin).text(of: explanation.event)
    }

    func wire(_ verdict: Explanation.Verdict, of decision: DecisionID?, _ client: BrokerClient) -> WireDictionary {
        // The verdict tells of its opponent; of other users' apps nothing is told.
        let holders = verdict.stops.filter { trust.mayKnow($0, client) || $0 == verdict.opponent }
            .map { trust.shown($0, to: client).description }
        // A change of a fact that the client may not know is not for it either.
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

    // MARK: What if

    /// What a plan may take of the thread that works it out, in nanoseconds of its processor time: a thousand steps, or the
    /// search for what would change one verdict. Behind a full queue of them the last one waits less than two seconds.
    static let planTimeMax: Int64 = 50_000_000

    func plan(_ scenario: String, _ request: Request) throws(BrokerError) {
        let client = request.client
        try ask(request) { [self] () throws(BrokerError) in
            try requireAlone(client)
            let (arbiter, now, names, folder) = (
                broker.arbiter, Broker.now(), broker.publisher.names(), planFolder(for: client)
            )
            let dropIns = broker.options.policyFolder.isEmpty ? nil : broker.options.policyFolder
            let user = client.uid
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

    /// The outcome of a plan names everybody it touches.
    func requireAlone(_ client: BrokerClient) throws(BrokerError) {
        guard clients.values.allSatisfy({ $0.app.map { trust.mayKnow($0, client) } ?? true }) else {
            throw BrokerError(.accessDenied, "Other users have apps here, and a plan would show them; root may ask.")
        }
    }

    /// Nobody reads a file with the broker's rights by planning to load it as a policy.
    private func planFolder(for client: BrokerClient) -> String {
        guard trust.isTrusted(client), let path = broker.options.policy, let slash = path.lastIndex(of: "/") else {
            return "/nonexistent"
        }
        return String(path[..<slash])
    }
}
