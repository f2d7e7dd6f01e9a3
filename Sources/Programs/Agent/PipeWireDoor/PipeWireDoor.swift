import ArbiterProtocol
import CPipeWire
import Glibc
import System

/// The door in PipeWire: the broker's cameras for programs of PipeWire.
///
///     a camera ──▶ its doorway, which programs find, and which shows a slate
///     a program's stream for the doorway ──▶ a node of its own, and a client of its own at the broker
///     the session manager's script links the two ──▶ the stream runs: startRunning; it pauses: stopRunning
///
/// A consumer's picture or slate comes from its own session alone. A refused consumer still sees its slate. Without the
/// script every stream is linked to a doorway only.
final class PipeWireDoor {
    private let loop: EventLoop
    private let address: String?
    private let journal: Journal
    private let user = geteuid()
    private let mailbox = LoopQueue<(session: UInt64, news: DoorSession.News)>()
    private let identities: DoorIdentities
    private var door: OpaquePointer?
    private var source: IOSource?
    private var retry: Timer?
    private var backOff = BackOff.desktop
    private var known: DoorCameras?
    private var shown: [(number: UInt32, camera: DoorCamera)] = []
    private var lastCamera: UInt32 = 0
    private var consumers: [UInt32: (session: UInt64, consumer: DoorConsumer)] = [:]
    private var lastSession: UInt64 = 0
    private var trouble: String?
    private var hasTurnToTake = false
    /// The reason why programs see slates only, and the remedy; `nil`: they are linked.
    private(set) var linkTrouble: String?
    private let onLinkTrouble: () -> Void
    private var linkTimer: Timer?
    private var hasAskedAboutLinking = false
    /// In nanoseconds: a session manager starts beside camagent, or anew, and reads its scripts last.
    private static let linkPatience: Int64 = 2_500_000_000

    /// Doorways only, and only by order: in place of a lost agent's.
    private let isStandIn: Bool
    private var isShowing: Bool
    var onShown: (() -> Void)?

    /// Consumers with a session: each has a connection to the broker, whose bound for a user is 256.
    static let sessionsMax = 64
    /// Of one program, so that a program which opens streams without end leaves the others theirs.
    static let sessionsOfProcessMax = 8

    init(
        on loop: EventLoop, address: String?, journal: Journal, isStandIn: Bool = false,
        onLinkTrouble: @escaping () -> Void
    ) throws(SystemFault) {
        self.isStandIn = isStandIn
        isShowing = !isStandIn
        (self.loop, self.address, self.journal) = (loop, address, journal)
        self.onLinkTrouble = onLinkTrouble
        identities = DoorIdentities(user: user)
        mailbox.setWakeup(try loop.addWakeup { [unowned self] in takeNews() })
        retry = try loop.addTimer { [unowned self] in open() }
        linkTimer = try loop.addTimer { [unowned self] in askAboutLinking() }
        known = try DoorCameras(on: loop, address: address) { [unowned self] in showCameras() }
    }

    deinit { close() }

    /// Before anything starts a thread: libpipewire sets a variable of the environment.
    func open() {
        var opened: OpaquePointer?
        let fault = camarb_door_open(&opened)
        guard fault == Int32(camarb_pipewire_good.rawValue), let opened else {
            // Without its library PipeWire stays unreachable while this program runs.
            if fault != Int32(camarb_pipewire_no_library.rawValue) { lost("PipeWire does not run") }
            return
        }
        door = opened
        do throws(SystemFault) {
            source = try loop.addIO(camarb_door_descriptor(opened), .readable) { [unowned self] _ in turn() }
        } catch { return lost("\(error)") }
        if trouble != nil, !isStandIn { journal.send(.notice, "the door in PipeWire is open again") }
        trouble = nil
        lookAtLinking()
        showCameras()
    }

    func connect() { known?.connect() }

    func close() {
        for (_, entry) in consumers { entry.consumer.close() }
        consumers = [:]
        shown = []
        identities.forgetAll()
        linkTimer?.arm(at: nil)
        source?.cancel()
        source = nil
        if let door { camarb_door_close(door) }
        door = nil
    }

    private func lost(_ why: String) {
        close()
        // The agent reports the same.
        if trouble != why, !isStandIn { journal.send(.notice, "the door in PipeWire is shut: \(why). Trying again.") }
        trouble = why
        retry?.arm(at: EventLoop.now + backOff.wait().nanoseconds)
    }

    func show(_ isShowing: Bool) {
        self.isShowing = isShowing
        if isShowing { return showCameras() }
        if let door { for (number, _) in shown { camarb_door_remove_camera(door, number) } }
        shown = []
    }

    private func showCameras() {
        guard isShowing, let door, let known else { return }
        for (number, camera) in shown {
            let now = known.cameras.first { $0.id == camera.id }
            let isUsed = consumers.values.contains { $0.consumer.camera == number }
            // An unplugged camera stays for its present consumers, whose slate shows it.
            if let now, now.isPresent || isUsed, now.name == camera.name, now.formats == camera.formats || isUsed {
                continue
            }
            camarb_door_remove_camera(door, number)
            for (consumer, entry) in consumers where entry.consumer.camera == number { end(consumer) }
            shown.removeAll { $0.number == number }
        }
        for camera in known.cameras
        where camera.isPresent && !camera.sizes.isEmpty && !shown.contains(where: { $0.camera.id == camera.id }) {
            lastCamera += 1
            let sizes = camera.sizes
            let result = camarb_door_add_camera(
                door, lastCamera, camera.id.name, camera.name, camera.position.rawValue, sizes, UInt32(sizes.count))
            if result < 0 {
                journal.send(.warning, "camera \(camera.id.name) has no doorway: \(String(cString: strerror(-result)))")
            } else {
                shown.append((lastCamera, camera))
            }
        }
    }

    private func turn() {
        guard let door else { return }
        guard camarb_door_turn(door) else { return lost("PipeWire went away") }
        backOff.reset()
        var events: [camarb_door_event] = []
        var event = camarb_door_event()
        while camarb_door_next(door, &event) { events.append(event) }
        if isStandIn { return }
        if let told = onShown, !shown.isEmpty, camarb_door_is_shown(door) {
            onShown = nil
            told()
        }
        // Departures first: a later connection may have got the same number, and no new one is gone already.
        for event in events where event.kind == camarb_door_client_went { identities.went(event.client) }
        let connections = events.filter { $0.kind == camarb_door_client_came }
        if !connections.isEmpty {
            identities.came(connections.map { SocketOwners.Connection(client: $0.client, process: $0.process) })
        }
        for event in events { take(event) }
        lookAtLinking()
    }

    private func lookAtLinking() {
        guard let door, !isStandIn else { return }
        if !camarb_door_has_script(door) {
            if linkTimer?.deadline == nil { linkTimer?.arm(at: EventLoop.now + Self.linkPatience) }
            return
        }
        linkTimer?.arm(at: nil)
        hasAskedAboutLinking = false
        guard linkTrouble != nil else { return }
        linkTrouble = nil
        journal.send(.notice, "WirePlumber has read camarb's script: programs in PipeWire see cameras")
        onLinkTrouble()
    }

    /// PipeWire 0.3.65 now and then misses a change: a query precedes every complaint.
    private func askAboutLinking() {
        guard let door else { return }
        camarb_door_ask_metadata(door)
        linkTimer?.arm(at: EventLoop.now + Self.linkPatience)
        guard hasAskedAboutLinking else {
            hasAskedAboutLinking = true
            return
        }
        guard linkTrouble == nil else { return }
        linkTrouble =
            "programs in PipeWire see slates only: WirePlumber has not read camarb's script; run systemctl --user restart wireplumber"
        journal.send(.warning, "\(linkTrouble ?? ""); docs/desktop.md says where its files are")
        onLinkTrouble()
    }

    /// A frame is shown after reading all of PipeWire's events; their effects follow after the frame's turn.
    private func turnIfNeeded() {
        guard let door, !hasTurnToTake, camarb_door_has_news(door) else { return }
        hasTurnToTake = true
        loop.defer { [weak self] in
            self?.hasTurnToTake = false
            self?.turn()
        }
    }

    private func take(_ event: camarb_door_event) {
        switch event.kind {
        case camarb_door_consumer_came: admit(event)
        case camarb_door_consumer_went: end(event.consumer)
        case camarb_door_runs:
            consumers[event.consumer]?.consumer.runs(
                DoorFormat(width: Int(event.width), height: Int(event.height), rate: event.rate > 0 ? event.rate : 30))
        case camarb_door_pauses: consumers[event.consumer]?.consumer.pauses()
        case camarb_door_overheard:
            journal.send(
                .warning,
                "another program was linked to the node of stream \(event.consumer), which sees a slate until it has another"
            )
        default: break
        }
    }

    private func admit(_ event: camarb_door_event) {
        guard let door, let camera = shown.first(where: { $0.number == event.camera })?.camera else { return }
        func refuse(_ who: String) {
            journal.send(.notice, "a stream \(who) sees a slate only: there are \(consumers.count) with a camera")
        }
        // Before any look-up: identifying a consumer costs more than refusing it.
        guard consumers.count < Self.sessionsMax else { return refuse("of connection \(event.client)") }
        let identity = identities.identity(event)
        // A claimed number may be another's.
        let owner: DoorConsumer.Owner =
            if case .process(let process, _) = identity { .process(process) } else { .connection(event.client) }
        guard consumers.values.count(where: { $0.consumer.owner == owner }) < Self.sessionsOfProcessMax else {
            return refuse("of connection \(event.client), \(identity.words),")
        }
        let result = camarb_door_admit(door, event.consumer, owner.number)
        guard result == 0 else {
            return journal.send(.warning, "a consumer has no node: \(String(cString: strerror(-result)))")
        }
        lastSession += 1
        let (number, mailbox) = (lastSession, mailbox)
        let session = DoorSession(camera, identity, address: address) { mailbox.post((number, $0)) }
        let consumer = DoorConsumer(
            camera: event.camera, owner: owner, on: DoorNode(door: door, consumer: event.consumer), loop, session
        ) { [unowned self] in turnIfNeeded() }
        consumers[event.consumer] = (number, consumer)
        journal.send(.info, "stream \(event.consumer) wants camera \(camera.id.name): \(identity.words)")
    }

    private func end(_ consumer: UInt32) { consumers.removeValue(forKey: consumer)?.consumer.close() }

    private func takeNews() {
        for (session, news) in mailbox.take() { consumers.values.first { $0.session == session }?.consumer.take(news) }
    }
}

extension DoorIdentity {
    fileprivate var words: String {
        switch self {
        case .process(let process, _): "it is process \(process)"
        case .claim(let name): "it says that it is \(name.quotedShort)"
        }
    }
}
