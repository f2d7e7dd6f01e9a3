import ArbiterProtocol
import Camarb
import Glibc
import System

/// The user's view of the cameras, and the user's decisions about apps: on the desktop's session bus for the user, on
/// `Shell1` for the broker.
///
///     broker ──use──────────▶ indicator in the panel ──stop, privacy──▶ broker
///            ──cut, waits,
///              answered─────▶ one notification every ten seconds
///            ──questions────▶ a notification with buttons ──allow, deny──▶ broker
///     permission store ──────▶ denied apps ─────────────────────────────▶ broker
///
/// Pure values decide (`Facts/Shown`); here they meet the clock and the bus. Nothing else in camagent needs it: without
/// a session bus it is silent.
final class UserFace {
    private let options: AgentOptions
    private let journal: Journal
    private let user: UInt32
    private var talk: BrokerTalk?
    private var desktop: DesktopBus?
    private var server: NotificationServer?
    private var questioner: Questioner?
    private var store: PermissionStore?
    private var item: StatusItem?
    private var tick, asking, again: Timer?

    private var cameras: [CameraUse] = []
    private var waits = Waits()
    private var pacing = NoticePacing()
    private var lastNotification: ShownNotification?
    /// The user's own privacy switch, as set here last or as the broker, which keeps it, reported it.
    private var isPrivate = false
    private var isAsked = false
    private var hasSaid = false
    /// The broker refused a part: camagent does not speak for the user yet, or not in a role that may.
    private var isRefused = false
    /// Refusals on this connection with their counts, so that each is written once.
    private var refused: [String: Int] = [:]
    private static let refusedMax = 64

    /// Between two queries of cameras in use, in nanoseconds: apps can start and stop faster than anybody looks.
    private static let useTime: Int64 = 250_000_000
    /// Before the next query while another client is asked about the user's apps.
    private static let silenceTime: Int64 = 10_000_000_000

    init(_ options: AgentOptions, on loop: EventLoop, user: UInt32, journal: Journal) throws(SystemFault) {
        (self.options, self.journal, self.user) = (options, journal, user)
        talk = try BrokerTalk(on: loop) { [unowned self] in answered($0, $1) }
        tick = try loop.addTimer { [unowned self] in tell() }
        asking = try loop.addTimer { [unowned self] in askUse() }
        again = try loop.addTimer { [unowned self] in sayAll() }
        var services: [any DesktopService] = []
        if options.notifications == .automatic || options.questions == .automatic {
            let server = try NotificationServer(on: loop) { [unowned self] in heard($0) }
            services.append(server)
            self.server = server
            questioner = Questioner(server) { [unowned self] in _ = talk?.ask(.answer($0, $1)) }
        }
        if options.permissionStore == .automatic {
            let store = try PermissionStore(on: loop, journal: journal) { [unowned self] in sayDenied() }
            services.append(store)
            self.store = store
        }
        if options.indicator == .automatic {
            item = try StatusItem(on: loop, journal: journal) { [unowned self] in clicked($0) }
        }
        desktop = try DesktopBus(services, on: loop, journal: journal)
    }

    func stop() {
        questioner?.forget()
        item?.leave()
    }

    func took(_ news: BrokerLink.FaceNews) {
        switch news {
        case .connected(let client):
            (refused, hasSaid) = ([:], false)
            talk?.begin(client)
        // Not before: a client that does not speak for the user is refused.
        case .spoke: if !hasSaid || isRefused { sayAll() }
        case .ended: ended()
        case .notice(let notice): take(notice)
        }
    }

    private func ended() {
        talk?.end()
        hasSaid = false
        again?.arm(at: nil)
        asking?.arm(at: nil)
        isAsked = false
        questioner?.forget()
        know([])
    }

    private func take(_ notice: BrokerNotice) {
        switch notice {
        case .useChanged: askUseSoon()
        case .recordingCut(let cut):
            guard options.notifications == .automatic, server?.capabilities != nil else { return }
            let name = cameras.first { $0.camera == cut.camera }?.name ?? cut.camera.name
            pacing.add(.recordingCut(app: cut.app, camera: name, by: cut.interrupter, cause: cut.cause))
            tell()
        case .answerChanged(let change):
            guard options.notifications == .automatic else { return }
            // A later server shows it: the answer may have ended the server of then.
            pacing.add(.answered(change))
            tell()
        case .question(let question): if isAsked { questioner?.ask(question) }
        case .questionEnded(let number, _): questioner?.ended(number)
        case .displaced(_, let by):
            journal.send(.notice, "somebody else is asked about apps now: \(by)")
            isAsked = false
            questioner?.forget()
            again?.arm(at: EventLoop.now + Self.silenceTime)
        default: break
        }
    }

    private func sayAll() {
        (hasSaid, isRefused) = (true, false)
        again?.arm(at: nil)
        sayWhetherAsked()
        sayDenied()
        askUse()
    }

    private func askUse() {
        guard item != nil || options.notifications == .automatic, let talk, talk.isConnected else { return }
        if !talk.ask(.use) { askUseSoon() }
    }

    private func askUseSoon() { if asking?.deadline == nil { asking?.arm(at: EventLoop.now + Self.useTime) } }

    private func sayWhetherAsked() {
        let canAsk = options.questions == .automatic && questioner?.canAsk == true
        guard hasSaid, canAsk != isAsked, talk?.ask(.answerQuestions(canAsk)) == true else { return }
        isAsked = canAsk
    }

    private func sayDenied() { if hasSaid, let denied = store?.denied { talk?.ask(.setDenied(denied.apps)) } }

    private func answered(_ order: BrokerTalk.Order, _ answer: BrokerTalk.Answer) {
        switch (order, answer) {
        case (_, .use(let cameras, let isPrivate)):
            self.isPrivate = isPrivate
            know(cameras)
        case (.setOwnPrivacy(let on), .done):
            isPrivate = on
            know(cameras)
        // The client that asks the user also shows the cameras in use.
        case (.answerQuestions(true), .done): if isRefused { sayAll() }
        case (_, .done): break
        case (_, .failed(let error)): failed(order, error)
        }
    }

    private func failed(_ order: BrokerTalk.Order, _ error: BrokerError) {
        if case .answerQuestions = order { isAsked = false }
        // A user has a right once a login session is known; then the store's denials are due as well.
        if case .setDenied = order, error.kind == .accessDenied { again?.arm(at: EventLoop.now + Self.silenceTime) }
        // The connection's owner reports its end.
        if error.kind == .disconnected { return }
        let words = "the broker refused \(order.words): \(error.message)"
        // A broker may word each refusal anew.
        if refused.count >= Self.refusedMax { refused = [:] }
        refused[words, default: 0] += 1
        if error.kind == .notTrusted {
            isRefused = true
            // The client in its place may leave; the rest is sent again after camagent's own facts.
            if case .answerQuestions = order { again?.arm(at: EventLoop.now + Self.silenceTime) }
            // The first time the facts may not have been sent yet.
            if refused[words] == 2 { journal.send(.notice, words) }
        } else if refused[words] == 1 {
            journal.send(.notice, words)
        }
    }

    private func know(_ new: [CameraUse]) {
        cameras = new
        item?.show(Indicator(new, isPrivate: isPrivate, time: Self.timeOfDay))
        // A user who switched privacy on knows why apps wait.
        waits.update(isPrivate ? [] : new, at: Self.now, wallClock: WallClock.microseconds)
        tell()
    }

    private func clicked(_ line: Indicator.Line) -> Bool {
        switch line {
        case .text, .separator: true
        // With its user: without it a broker may take the name for another user's app.
        case .stop(let app): talk?.ask(.stop(app: "\(app)@\(user)")) ?? false
        case .setPrivacy(let on): talk?.ask(.setOwnPrivacy(on)) ?? false
        }
    }

    private func heard(_ news: NotificationServer.News) {
        switch news {
        case .changed:
            if questioner?.canAsk == false { questioner?.forget() }
            sayWhetherAsked()
            tell()
        case .button(let shown, let key): questioner?.pressed(shown, key: key)
        case .closed(let shown): if shown == lastNotification { lastNotification = nil }
        }
    }

    /// Shows the due notices, and comes back for later ones. Without a server, waits stay pending.
    private func tell() {
        guard options.notifications == .automatic, let server, server.capabilities != nil else {
            tick?.arm(at: nil)
            return
        }
        for notice in waits.due(at: Self.now) { pacing.add(notice) }
        pacing.keepWaits { waits.contains(app: $0, camera: $1) }
        if let text = pacing.take(at: Self.now) {
            server.show(NotificationOrder(text: text, replaces: lastNotification)) { [weak self] shown in
                self?.lastNotification = text.isToStay ? nil : shown
            }
        }
        let next = [waits.deadline, pacing.deadline].compactMap(\.self).min()
        tick?.arm(at: next?.nanoseconds)
    }

    private static var now: Moment { Moment(nanoseconds: EventLoop.now) }

    private static func timeOfDay(_ microseconds: Int64) -> String {
        let (then, now) = (Int(microseconds / 1_000_000), Int(WallClock.now))
        let day = WallClock.written(then, as: "%Y-%m-%d")
        let time = WallClock.written(then, as: "%H:%M")
        return day == WallClock.written(now, as: "%Y-%m-%d") ? time : "\(day) \(time)"
    }
}

extension BrokerTalk.Order {
    fileprivate var words: String {
        switch self {
        case .use: "to say which app has which camera"
        case .stop: "to stop an app"
        case .setOwnPrivacy(let on): "to turn privacy \(on ? "on" : "off")"
        case .answerQuestions: "to ask about apps here"
        case .answer(_, let answer): "the answer \(answer.rawValue)"
        case .setDenied: "to take what the permission store denies"
        }
    }
}
