import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
public import System

/// camarbd: the one caller of the core, and the core's hands.
///
///     clients ──calls──▶ methods ──events──▶ step ──effects──▶ carryOut ──▶ notices, recorder cores
///                                             ▲
///     recorder cores, timer, signals ─────────┘
///
/// Everything happens on the loop's thread, one event at a time; nothing waits. An event's effects are carried out
/// before the next event is looked at: where carrying one out fails at once, the failure is an event of its own, later.
public final class Broker {
    let options: BrokerOptions
    let loop: EventLoop
    let journal: Journal
    let trust: Trust
    /// Nil where nothing outlives the broker.
    let store: GrantStore?
    private(set) var arbiter: Arbiter
    private(set) var history = History()
    /// Steps of the core in this life: a trace counts them.
    private(set) var stepsTaken: UInt64 = 0
    /// Traces count time from here.
    let origin = Broker.now()
    private var alarm: Timer?
    private var isStepping = false
    private var listeners: [UnixListener] = []

    // What it is made of. Each is there before the first client, and as long as the broker: made in `init`, which throws where one
    // cannot be made, so that after that none is nil.
    let audience = Audience()
    private(set) var policy: PolicyKeeper!
    private(set) var loading: PolicyLoading!
    private(set) var clients: Clients!
    private(set) var cameras: Cameras!
    private(set) var desktops: Desktops!
    private(set) var permissions: Permissions!
    private(set) var reclaiming: Reclaiming!
    private(set) var inquiries: Inquiries!
    private(set) var publisher: Publisher!
    private(set) var dispatcher: Dispatcher!
    private(set) var properties: PropertyTelling!

    public convenience init(_ options: BrokerOptions, on loop: EventLoop) throws(SystemFault) {
        try self.init(options, recorders: nil, on: loop)
    }

    package init(
        _ options: BrokerOptions, recorders: (any RecorderSource)?, on loop: EventLoop, journal: Journal? = nil
    ) throws(SystemFault) {
        self.options = options
        self.loop = loop
        var journal = journal ?? Journal(identifier: "camarbd")
        if options.printsDecisions { journal.threshold = .debug }
        self.journal = journal
        trust = Trust(isService: options.isService)
        store = GrantStore(journal: journal)
        arbiter = Arbiter(policy: .firstCome)
        _ = camarb_raise_descriptor_limit()
        policy = PolicyKeeper(of: self)
        if let first = policy.first() { arbiter = Arbiter(policy: first) }
        clients = try Clients(self, keepers: OwnPrograms.path("camkeeper"))
        permissions = try Permissions(self, keeps: recorders == nil)
        reclaiming = Reclaiming(of: self)
        cameras = Cameras(self, recorders: RecorderOrigin(options, simulated: recorders))
        desktops = Desktops(of: self)
        inquiries = try Inquiries(self)
        loading = PolicyLoading(of: self)
        publisher = try Publisher(self)
        dispatcher = Dispatcher(of: self)
        properties = PropertyTelling(of: self)
        alarm = try loop.addTimer { [unowned self] in alarmRang() }
        for camera in options.cameras { _ = cameras.add(camera.id, spec: camera.spec) }
        if let path = options.trace { publisher.traceFile = try TraceFile(self, path: path) }
        try desktops.begin()
        listeners = try clients.doors()
        try cameras.begin()
        ServiceManager.ready(status: publisher.statusLine)
        loop.startWatchdog()
    }

    package func accept(_ descriptor: Int32) { clients.accept(descriptor) }

    /// SIGHUP. A bad file never replaces a good policy.
    public func reloadPolicy() { policy.reload() }

    /// Lets go of everything: clients are disconnected, recorder cores finish their files and end.
    public func stop() {
        ServiceManager.stopping()
        listeners = []
        cameras.stop()
        clients.disconnectAll()
        publisher.traceFile?.end()
    }

    // MARK: Stepping

    static func now() -> Moment { Moment(nanoseconds: EventLoop.now) }

    /// The one place where the core is stepped.
    /// - Returns: why the event's request was refused; it has been answered by then.
    @discardableResult
    func step(_ event: Event, for request: Request? = nil) -> Refusal? {
        precondition(!isStepping, "An event came while the effects of another were carried out.")
        isStepping = true
        let now = Self.now()
        history.note(event, at: now, after: arbiter.lastDecision) { arbiter }
        let effects = arbiter.step(event, at: now)
        let refusal = carryOut(effects, request)
        publisher.count(event, effects, at: now, asker: request?.client)
        isStepping = false
        setAlarm()
        stepsTaken += 1
        publisher.publish(event, effects, now)
        desktops.lookWhereWanted()
        return refusal
    }

    /// An alarm that is set already and comes early enough stays: most deadlines are those of cuts, which are done long
    /// before, and setting an alarm costs a system call. At worst it rings once for nothing.
    private func setAlarm() {
        guard let deadline = arbiter.deadline?.nanoseconds else { return }
        if let armed = alarm?.deadline, armed <= deadline { return }
        alarm?.arm(at: deadline)
    }

    private func alarmRang() {
        if let deadline = arbiter.deadline, deadline <= Self.now() { step(.timePassed) } else { setAlarm() }
    }

    /// For what is found out while effects are carried out: an event of its own, in order, after them.
    func stepLater(_ event: Event) { loop.defer { [self] in step(event) } }

    /// A client's request that is one event: stepped, and answered with nothing where no effect answered it.
    func decide(_ event: Event, _ request: Request) {
        step(event, for: request)
        if !request.isAnswered { request.answer() }
    }

    // MARK: Carrying out

    /// Carries out the orders of one step, in their order. The only place that does.
    func carryOut(_ effects: [Effect], _ request: Request?) -> Refusal? {
        var refusal: Refusal?
        for effect in effects {
            switch effect {
            case .refused(let refused):
                refusal = refused
                request?.answer(refused.sentence)
            case .answered(let id):
                request?.answer(id: id)

            case .cut(let camera, let grant, let why, let next, let reason):
                cameras[camera]?.cut(grant, CameraLink.GrantEnd(why: why, reason: reason), passesOn: next != nil)
            case .killRecorder(let camera): cameras[camera]?.kill()
            case .open(let camera, let grant, let session, let configuration):
                if clients.isGrantable(session) { cameras[camera]?.open(grant, configuration) }
            case .resume(let camera, let grant, let session, _):
                // Its streams flow already: only the end of the recorder core ends them.
                if clients.isGrantable(session) {
                    cameras[camera]?.resume(grant, session)
                } else {
                    cameras[camera]?.kill()
                }
            case .configure(let camera, let grant, _, let batch): cameras[camera]?.configure(grant, batch)
            case .openStream(let camera, let grant, let session):
                request?.answerLater()
                cameras[camera]?.outputs.openStream(grant, session, for: request?.message)
            case .closeStreams(let camera, let grant, let session):
                cameras[camera]?.outputs.closeStreams(grant, session)
            case .capturePhoto(let camera, let grant, let session, let photo):
                guard let file = request?.file else { continue }
                cameras[camera]?.outputs.capturePhoto(grant, session, photo, file, request?.options ?? [:])
            case .capturePhotoBracket(let camera, let grant, let session, let first, let bracket):
                guard let files = request?.files, files.count == bracket.shots.count else { continue }
                cameras[camera]?.outputs.capturePhotoBracket(grant, session, first: first, files, bracket)
            case .startRecording(let camera, let grant, _, let recording):
                guard let file = request?.file else { continue }
                cameras[camera]?.outputs.startRecording(grant, recording, file, request?.options ?? [:])
            case .stopRecording, .pauseRecording, .resumeRecording, .attachMicrophone, .detachMicrophone,
                .appendMetadata, .setSlate:
                carryOutForRecording(effect, request)

            case .notify(_, let session, let sequence, let event): notify(session, sequence, event)
            case .announce(let news): publisher.announce(news, for: request?.client)
            }
        }
        return refusal
    }

    private func carryOutForRecording(_ effect: Effect, _ request: Request?) {
        switch effect {
        case .stopRecording(let camera, let recording, let why, let reason):
            cameras[camera]?.outputs.stopRecording(recording, why, reason)
        case .pauseRecording(let camera, let recording): cameras[camera]?.outputs.setPaused(recording, true)
        case .resumeRecording(let camera, let recording): cameras[camera]?.outputs.setPaused(recording, false)
        case .attachMicrophone(let camera, let grant, let session, let format):
            guard let microphone = request?.microphone else { return }
            request?.answerLater()
            cameras[camera]?.outputs.attachMicrophone(grant, session, microphone, format, for: request?.message)
        case .detachMicrophone(let camera, let grant): cameras[camera]?.outputs.detachMicrophone(grant)
        case .appendMetadata(let camera, let recording):
            guard let group = request?.group, let session = request?.owner else { return }
            request?.answerLater()
            cameras[camera]?.outputs.appendMetadata(recording, group, of: session, for: request?.message)
        case .setSlate(let camera, let grant, let session, let slate):
            cameras[camera]?.outputs.setSlate(grant, session, slate)
        default: break
        }
    }

    private func notify(_ session: SessionID, _ sequence: UInt64, _ event: SessionEvent) {
        // A session that no longer runs has nothing that another broker could give back.
        if event.endsRunning { for link in cameras.order { link.forgetKept(of: session) } }
        guard let client = clients.owner(of: session) else { return }
        let (path, decision, signal) = (ObjectPath.session(session), arbiter.lastDecision, event.described)
        let isWritten = client.connection.signal(
            path: path, interface: InterfaceName.session, member: signal.name, signature: signal.signature
        ) { writer in
            signal.forEachArgument(of: event, sequence: sequence, decision: decision) { writer.append($0) }
        }
        if isWritten { return }
        client.connection.signal(
            path: path, interface: InterfaceName.session, member: signal.name,
            event.wireArguments(sequence: sequence, decision: decision))
    }
}

/// What the broker is made of: one part for each duty. They reach each other through the broker, which outlives them.
class BrokerPart {
    unowned let broker: Broker
    init(of broker: Broker) { self.broker = broker }

    final var clients: Clients { broker.clients }
    final var cameras: Cameras { broker.cameras }
    final var desktops: Desktops { broker.desktops }
    final var trust: Trust { broker.trust }
}

extension Refusal {
    /// The error with the rule that is behind it: every verdict names its rule. A request that nobody could grant met no
    /// verdict, and its sentence says what is wrong with it.
    var sentence: BrokerError {
        rule.isEmpty || error.kind.isOfTheRequest
            ? error : BrokerError(error.kind, "\(error.message) Because “\(rule)”.")
    }
}

/// What must hold of a broker whatever its clients do, for tests that try everything.
extension Broker {
    package var brokenPromises: [String] { arbiter.violations() }

    package var isWorkingAside: Bool { inquiries.isWorkingAside }

    package var leftOfClients: [String] {
        let counts = [
            ("clients", clients.count), ("listeners to news", audience.count), ("sessions", clients.owners.count),
            ("subscribers", publisher.subscribers), ("tracers", publisher.tracers),
            ("readers of the list of clients", desktops.clientLists),
            ("questions that wait", cameras.untilKnown.count), ("users with a budget", clients.budgets.users.count),
            ("cameras that are held", cameras.order.count { $0.holder != nil }),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }
}
