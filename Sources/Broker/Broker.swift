import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import Glibc
public import Loop
package import Machine
import Metrics
import PolicyFile

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
    /// Where recorder cores come from in a simulation.
    private let simulatedRecorders: (any RecorderSource)?
    let journal: Journal
    var arbiter: Arbiter
    /// What it lived through of late: it explains what was decided.
    var history = History()
    /// The same in numbers.
    var metrics = BrokerMetrics()
    /// Connections that were ended or refused, by why.
    var disconnects = Tally()
    private var alarm: Timer?
    private var isStepping = false

    // Clients
    var clients: [UInt64: BrokerClient] = [:]
    /// The same clients' connections, side by side, for news to all: walking the clients would cost as much as telling
    /// them.
    var audience: [Listener] = []
    struct Listener {
        var connection: BusConnection
        var uid: UInt32
        /// It has called nothing yet, and gets no news before this moment: sd-bus takes anything that comes before the
        /// answer to its `Hello` for an error.
        var isSilentUntil: Int64?
    }
    var lastClient: UInt64 = 0
    /// What each user has of what there is, and may have.
    var budgets: Budgets
    /// Those that have not authenticated yet.
    var halfOpen = HalfOpenConnections()
    /// Lines that clients can cause: of faults and refusals, and of decisions.
    let clientLines: ClientLines
    let decisionLines: ClientLines
    /// Heap that has become free since it was last given back to the machine.
    var freed = FreedMemory()
    private(set) var processes: ProcessWatcher?
    /// They take what clients pass: a file must never come into this process.
    let keepers: DescriptorKeepers
    private(set) var listeners: [UnixListener] = []

    // Sessions
    /// Whose session it is, and what traces call it.
    var owners: [UInt64: Owned] = [:]
    struct Owned {
        var client: BrokerClient
        var name: String
    }
    var lastSession: UInt64 = 0
    /// What traces call clients and sessions.
    var clientNames = NamePool()
    var sessionNames = NamePool()
    /// Plans and explanations.
    private(set) var slowQuestions: SlowQuestions?
    /// Pages of sessions as they were last told.
    var sessionPages = SessionPages()

    // Cameras, in the order of the command line
    var cameras: [CameraID: CameraLink] = [:]
    var cameraOrder: [CameraLink] = []
    /// Questions about cameras that came before the cameras were known, the first first; each is in its user's budget.
    var untilCamerasKnown: [(client: BrokerClient, work: () -> Void)] = []
    var camerasKnownTimer: Timer?
    /// The machine's cameras as they come and go; nil where none was asked for.
    private var followed: CamerasFollowed?

    // Facts with a life of their own
    private(set) var logins: LoginSessionWatch?
    private(set) var pressure: PressureWatch?
    /// Who speaks for users' desktops.
    var speakers = Speakers()

    /// Why the policy that was asked for is not in force; empty when it is.
    var policyTrouble = ""
    var policySources = PolicySources()
    var statusIsDue = false
    /// Watching clients, so that nobody pays for a trace that nobody reads.
    var watchers = 0
    /// Those who record a trace.
    var tracers = 0
    /// Steps of the core in this life: a trace counts them.
    var stepsTaken: UInt64 = 0
    var traceFile: TraceFile?
    /// Clients that are told when their user's clients change.
    var clientLists = 0
    /// Clients that are told when cameras are in use otherwise.
    var useLists = 0
    /// What users said of their apps.
    let answers: AnswerStore
    let methods = MethodTables()
    /// Nil where nothing outlives the broker.
    let store: GrantStore?
    let ownUser = geteuid()
    /// Traces count time from here.
    let origin = Broker.now()

    /// - Throws: when it cannot listen, or has no event loop.
    public convenience init(_ options: BrokerOptions, on loop: EventLoop) throws(SystemFault) {
        try self.init(options, recorders: nil, on: loop)
    }

    /// - Parameters:
    ///   - recorders: a simulation's.
    ///   - journal: nil: its own.
    /// - Throws: as above.
    package init(
        _ options: BrokerOptions, recorders: (any RecorderSource)?, on loop: EventLoop, journal: Journal? = nil
    ) throws(SystemFault) {
        simulatedRecorders = recorders
        self.options = options
        self.loop = loop
        var journal = journal ?? Journal(identifier: "camarbd")
        if options.printsDecisions { journal.threshold = .debug }
        self.journal = journal
        store = GrantStore(journal: journal)
        answers = try AnswerStore(journal: journal, isKept: recorders == nil, on: loop)
        budgets = Budgets(
            connections: .connections(ofUser: options.connectionsPerUserMax, inAll: options.connectionsMax),
            trusted: options.isService ? [0] : [0, ownUser])
        clientLines = try ClientLines(.faults, journal, on: loop)
        decisionLines = try ClientLines(.decisions, journal, on: loop)
        keepers = DescriptorKeepers(program: Self.program("camkeeper"), on: loop) { journal.send(.warning, $0) }
        _ = camarb_raise_descriptor_limit()
        arbiter = Arbiter(policy: .firstCome)
        loadFirstPolicy()
        alarm = try loop.addTimer { [unowned self] in alarmRang() }
        processes = try ProcessWatcher(on: loop) { [unowned self] tag in clientProcessEnded(tag) }
        slowQuestions = try SlowQuestions(on: loop) { [unowned self] uid in isTrusted(uid) }
        for camera in options.cameras { _ = addCamera(camera.id, spec: camera.spec) }
        if let path = options.trace { try openTrace(path) }
        pressure = try PressureWatch(self, root: options.machine)
        pressure?.policyChanged()
        logins = try LoginSessionWatch(self, address: options.systemBus ?? MessageBus.Kind.systemAddress)
        try listen()
        for link in cameraOrder where !link.isFollowed { link.describe() }
        camerasKnownTimer = try loop.addTimer { [unowned self] in camerasAreKnown() }
        camerasKnownTimer?.arm(at: EventLoop.now + Self.camerasKnownTimeMax)
        if options.followsCameras || cameraOrder.contains(where: \.isFollowed) {
            followed = CamerasFollowed(self, followsAll: options.followsCameras)
            if cameraOrder.isEmpty { loop.defer { [unowned self] in cameraBecameKnown() } }
        }
        ServiceManager.ready(status: statusLine)
        loop.startWatchdog()
    }

    /// How long a question about cameras waits for them after a start, in nanoseconds: a recorder core that has not
    /// described its camera by then has hung in it, and is killed.
    static let camerasKnownTimeMax = RecorderLife.answerTimeMax

    func addCamera(_ id: CameraID, spec: String) -> CameraLink {
        let link =
            spec == DryCamera.spec
            ? DryCamera(self, id, spec: spec, origin: recorderOrigin)
            : CameraLink(self, id, spec: spec, origin: recorderOrigin)
        cameras[id] = link
        cameraOrder.append(link)
        return link
    }

    private func listen() throws(SystemFault) {
        let refused: (SystemFault) -> Void = { [unowned self] fault in
            refusedConnection("\(fault)", of: nil)
        }
        let accepted: (Int32) -> Void = { [unowned self] descriptor in accept(descriptor) }
        let passed = options.socket == nil ? ServiceManager.listeners() : []
        for descriptor in passed {
            listeners.append(
                try UnixListener(adopting: descriptor, on: loop, onRefused: refused, onConnection: accepted))
        }
        if !passed.isEmpty { return }
        let path: String
        if let said = options.socket { path = said } else { path = try Self.usualSocket() }
        Self.makeParent(of: path)
        listeners = [try UnixListener(path: path, on: loop, onRefused: refused, onConnection: accepted)]
    }

    private static func usualSocket() throws(SystemFault) -> String {
        if let said = getenv("CAMARB_SOCKET"), said[0] != 0 { return String(cString: said) }
        if getuid() == 0 { return SocketAddress.system }
        guard let path = SocketAddress.user else {
            throw SystemFault("find a place for the socket without XDG_RUNTIME_DIR (use --socket PATH)", ENOENT)
        }
        return path
    }

    private static func makeParent(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        // There already, or it cannot be made: then listening says why.
        _ = mkdir(String(path[..<slash]), 0o755)
    }

    /// `--recorder`, or our own.
    private var recorderOrigin: RecorderOrigin {
        if let simulatedRecorders { return .simulation(simulatedRecorders) }
        if let said = options.recorder { return RecorderOrigin(said, isService: options.isService) }
        return .program(Self.program("camrecorder"))
    }

    /// Where a program of ours is: beside this one, or where a package puts it, below this one's prefix or /usr.
    private static func program(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = camarb_own_program(&buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let slash = own.lastIndex(of: "/") {
            let folder = String(own[...slash])
            for place in ["", "../libexec/camarb/"] where access(folder + place + name, X_OK) == 0 {
                return folder + place + name
            }
        }
        return "/usr/libexec/camarb/" + name
    }

    /// Lets go of everything: clients are disconnected, recorder cores finish their files and end.
    public func stop() {
        ServiceManager.stopping()
        listeners = []
        for link in cameraOrder { link.stop() }
        for client in clients.values { client.connection.close() }
        clients = [:]
        traceFile?.end()
    }

    // MARK: Stepping

    static func now() -> Moment { Moment(nanoseconds: EventLoop.now) }

    /// The one place where the core is stepped.
    /// - Returns: why the request that the event is was refused; it has been answered then.
    @discardableResult
    func step(_ event: Event, for request: Request? = nil) -> Refusal? {
        precondition(!isStepping, "An event came while the effects of another were carried out.")
        isStepping = true
        let now = Self.now()
        history.note(event, at: now, before: arbiter)
        let effects = arbiter.step(event, at: now)
        let refusal = carryOut(effects, request)
        count(event, effects, at: now, asker: request?.client)
        isStepping = false
        setAlarm()
        if let camera = event.recorderNewsOf { tellFree(camera) }
        tell(event, effects, now)
        tellDesktops(event, effects)
        trace(event, effects, now)
        if let logins, logins.isHoldingSleep { logins.letSleepWhenSettled() }
        pressure?.lookWhereWanted()
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

    /// For what turns out while effects are carried out: an event of its own, in order, when they are.
    func stepLater(_ event: Event) { loop.defer { [self] in step(event) } }

    /// A client's request that is one event: stepped, and answered with nothing where no effect answered it.
    func decide(_ event: Event, _ request: Request) {
        step(event, for: request)
        if !request.isAnswered { request.answer() }
    }
}
