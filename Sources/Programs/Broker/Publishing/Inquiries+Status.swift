import Arbiter
import ArbiterProtocol
import Bus
import Explain

/// The status of the broker, and its sessions page by page.
extension Inquiries {
    func answerStatus(_ request: Request) {
        let page = sessionPage(after: SessionID(0), for: request.client)
        let status = status(for: request.client, page)
        request.answer("a{sv}aa{sv}aa{sv}") { writer in
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
            $0.policyByHand = broker.policy.byHand ?? ""
            $0.degraded = broker.publisher.degraded
            ($0.isPrivate, $0.isOwnPrivate) = (status.isPrivate, broker.permissions.isPrivate(client.uid))
            ($0.isAsleep, $0.presenceKnown) = (status.isAsleep, status.isPresenceKnown)
            ($0.mode, $0.modeSetBy) = (status.mode ?? "", status.modeSetBy?.rawValue ?? "")
            $0.pressure = status.pressure
            addDesktop(to: &$0, client)
            $0.budgets = clients.budgetUses(for: client)
            if let choice = arbiter.operatorChoice() {
                $0.override = trust.shown(choice.app, to: client)
                // The sentence may name apps of all users.
                $0.overrideTrouble = trust.isTrusted(client) ? choice.trouble : ""
            }
            // In the order of the command line.
            $0.cameras = cameras.order.compactMap { link in
                status.cameras.first { $0.id == link.camera }.map { camera(of: $0, link, company, for: client) }
            }
            ($0.sessions, $0.hasMoreSessions) = (page.sessions, page.hasMore)
        }
    }

    private func addDesktop(to status: inout BrokerStatus, _ client: BrokerClient) {
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
            // A program that streams is known before the look that found it has reported that the node is not merely open.
            if link.outside == nil { $0.openIn = link.openIn }
            ($0.unwatched, $0.bypass, $0.fault) = (link.node.trouble, link.bypass, link.fault)
        }
    }

    /// Names of apps that wait for a camera, or watch it: as many as a person reads.
    static let companyMax = 64

    // MARK: Sessions, page by page

    func answerSessions(after last: SessionID, _ request: Request) {
        let page = sessionPage(after: last, for: request.client)
        request.answer("aa{sv}b") { writer in
            page.write(to: &writer)
            writer.append(page.hasMore)
        }
    }

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

    /// Of another user's session, its camera and whether it runs: as much as a status contains of the holder.
    private func session(of status: Status.SessionStatus, for client: BrokerClient) -> ArbiterProtocol.SessionStatus {
        ArbiterProtocol.SessionStatus {
            ($0.session, $0.camera) = (status.id, status.camera)
            let isKnown = trust.mayKnow(status.app, client)
            $0.state =
                switch status.state {
                case .stopped: .stopped
                // A session that starts is neither interrupted nor restricted.
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
}

/// Pages of sessions that were made since the last step, so that many clients that ask for a status cost one of them. A page
/// depends only on the core's state and on its audience.
struct SessionPages {
    /// Sessions of a page: one or two milliseconds to make and to send (256 took ten under load), and more than a desktop has.
    static let sessionsMax = 64
    /// Enough for the status lines of a few users, or one client that reads all pages.
    static let pagesMax = 8

    enum Audience: Hashable {
        case everything
        case user(UInt32)
    }

    final class Page {
        let sessions: [SessionStatus]
        let hasMore: Bool
        /// The sessions as they lie in a message, from the first one on.
        private var written: MessageWriter.Part?

        init(sessions: [SessionStatus], hasMore: Bool) {
            (self.sessions, self.hasMore) = (sessions, hasMore)
        }

        func write(to writer: inout MessageWriter) {
            writer.append(kept: &written) { writer in writer.append(each: sessions) }
        }
    }

    private struct Key: Hashable {
        var audience: Audience
        var last: SessionID
    }

    private var pages: [(key: Key, page: Page)] = []
    private var step: UInt64 = 0

    func find(_ audience: Audience, after last: SessionID, step: UInt64) -> Page? {
        guard step == self.step else { return nil }
        let key = Key(audience: audience, last: last)
        return pages.first { $0.key == key }?.page
    }

    mutating func keep(_ page: Page, _ audience: Audience, after last: SessionID, step: UInt64) {
        if step != self.step {
            pages = []
            self.step = step
        }
        // The oldest goes: no client comes back to a page.
        if pages.count >= Self.pagesMax { pages.removeFirst() }
        pages.append((Key(audience: audience, last: last), page))
    }
}
