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
    /// `nil` where nothing outlives the broker.
    let store: GrantStore?
    private(set) var arbiter: Arbiter
    private(set) var history = History()
    /// Steps of the core since the start, counted in traces.
    private(set) var stepsTaken: UInt64 = 0
    /// Traces count time from here.
    let origin = Broker.now()
    private var alarm: Timer?
    private var isStepping = false
    private var listeners: [UnixListener] = []

    // Its parts. All are made in `init`, which throws where one cannot be made.
    let audience = Audience()
    private(set) var policy: PolicyManager!
    private(set) var clients: Clients!
    private(set) var cameras: Cameras!
    private(set) var desktops: Desktops!
    private(set) var permissions: Permissions!
    private(set) var inquiries: Inquiries!
    private(set) var publisher: Publisher!
    private(set) var dispatcher: Dispatcher!
    private(set) var properties: PropertyNotifier!
    /// `nil` where the broker has no name on the system bus.
    private(set) var systemName: SystemName?

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
        policy = PolicyManager(of: self)
        if let first = policy.first() { arbiter = Arbiter(policy: first) }
        clients = try Clients(self, keepers: OwnPrograms.path("camkeeper"))
        permissions = try Permissions(self)
        cameras = Cameras(self, recorders: RecorderOrigin(options, simulated: recorders))
        desktops = Desktops(of: self)
        inquiries = try Inquiries(self)
        publisher = try Publisher(self)
        dispatcher = Dispatcher(of: self)
        properties = PropertyNotifier(of: self)
        alarm = try loop.addTimer { [unowned self] in alarmRang() }
        for camera in options.cameras { _ = cameras.add(camera.id, spec: camera.spec) }
        if let path = options.trace { publisher.traceFile = try TraceFile(self, path: path) }
        try desktops.begin()
        systemName = try SystemName(of: self, address: options.systemBusAddress)
        listeners = try clients.listen()
        try cameras.begin()
        ServiceManager.ready(status: publisher.statusLine)
        loop.startWatchdog()
    }

    package func accept(_ descriptor: Int32) { clients.accept(descriptor) }

    /// SIGHUP. A bad file never replaces a good policy.
    public func reloadPolicy() { policy.reload() }

    /// Disconnects all clients, and has recorder cores finish their files and end.
    public func stop() {
        ServiceManager.stopping()
        listeners = []
        systemName?.leave()
        cameras.stop()
        clients.disconnectAll()
        publisher.traceFile?.end()
    }

    // MARK: Stepping

    static func now() -> Moment { Moment(nanoseconds: EventLoop.now) }

    /// The one place where the core is stepped.
    /// - Returns: why the event's request was refused; the request has been answered.
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
    /// before, and setting an alarm costs a system call.
    private func setAlarm() {
        guard let deadline = arbiter.deadline?.nanoseconds else { return }
        if let armed = alarm?.deadline, armed <= deadline { return }
        alarm?.arm(at: deadline)
    }

    private func alarmRang() {
        if let deadline = arbiter.deadline, deadline <= Self.now() { step(.timePassed) } else { setAlarm() }
    }

    /// For events that are found while effects are carried out.
    func stepLater(_ event: Event) { loop.defer { [self] in step(event) } }

    /// Steps a client's request, and answers it with nothing where no effect has answered it.
    func decide(_ event: Event, _ request: Request) {
        step(event, for: request)
        if !request.isAnswered { request.answer() }
    }

    // MARK: Carrying out

    /// Carries out the orders of one step, in their order. The only place that does.
    private func carryOut(_ effects: [Effect], _ request: Request?) -> Refusal? {
        var refusal: Refusal?
        for effect in effects {
            switch effect {
            case .refused(let refused):
                refusal = refused
                request?.answer(refused.sentence)
            case .answered(let id):
                request?.answer(id: id)

            case .cut(let camera, let grant, let why, let next, let reason):
                cameras[camera]?.cut(grant, why, reason, passesOn: next != nil)
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
            case .notify(_, let session, let sequence, let event): notify(session, sequence, event)
            case .announce(let news): publisher.announce(news, for: request?.client)
            default: if let order = effect.order { cameras[order.camera]?.outputs.carryOut(effect, request) }
            }
        }
        return refusal
    }

    private func notify(_ session: SessionID, _ sequence: UInt64, _ event: SessionEvent) {
        // A session that no longer runs has nothing that another broker could give back.
        if event.endsRunning { for link in cameras.order { link.forgetKept(of: session) } }
        guard let client = clients.owner(of: session) else { return }
        let (path, decision, signal) = (ObjectPath.session(session), arbiter.lastDecision, event.described)
        client.connection.signal(
            path: path, interface: InterfaceName.session, member: signal.name, signal.signature
        ) { writer in
            signal.forEachArgument(of: event, sequence: sequence, decision: decision) { writer.append($0) }
        }
    }
}

/// A part of the broker with a duty of its own. The broker outlives it.
class BrokerPart {
    unowned let broker: Broker
    init(of broker: Broker) { self.broker = broker }

    final var clients: Clients { broker.clients }
    final var cameras: Cameras { broker.cameras }
    final var desktops: Desktops { broker.desktops }
    final var trust: Trust { broker.trust }
}

extension Refusal {
    /// The error with its rule: every verdict names one. A request that could never be granted met no verdict.
    var sentence: BrokerError {
        rule.isEmpty || error.kind.isOfTheRequest
            ? error : BrokerError(error.kind, "\(error.message) Because “\(rule)”.")
    }
}

/// For tests that try everything.
extension Broker {
    package var brokenPromises: [String] { arbiter.violations() }

    package var isWorkingAside: Bool { inquiries.slow.isBusy }

    package var leftOfClients: [String] {
        let counts = [
            ("clients", clients.count), ("listeners to news", audience.count), ("sessions", clients.owners.count),
            ("subscribers", publisher.subscribers), ("tracers", publisher.tracers),
            ("readers of the list of clients", desktops.clientLists),
            ("questions that wait", cameras.untilKnown.count), ("users with a budget", usersWithMoreThanAnswers),
            ("cameras that are held", cameras.order.count { $0.holder != nil }),
        ]
        return counts.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }
    }

    private var usersWithMoreThanAnswers: Int {
        clients.budgets.users.count { user in
            Budgets.Resource.allCases.contains {
                clients.budgets.use(of: user, $0) > ($0 == .answers ? permissions.kept(of: user) : 0)
            }
        }
    }
}
