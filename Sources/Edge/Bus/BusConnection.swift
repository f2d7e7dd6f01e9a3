import ArbiterProtocol
import CLinux
import CSystemd
import Glibc
public import System

/// What a connection tells its owner, on the loop's thread. No call comes from inside a call of the
/// connection's own methods: the owner is never re-entered.
public protocol BusConnectionDelegate: AnyObject {
    /// The peer has authenticated.
    func connectionReady(_ connection: BusConnection)
    /// A method call or a signal. Calls are answered now or later, but answered.
    func connection(_ connection: BusConnection, received message: BusMessage)
    /// It is over, and the descriptor is closed. Not called after `close()`.
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End)
}

/// One D-Bus connection, peer to peer over a Unix socket, without a bus in between.
///
/// libsystemd does the marshalling; waiting is done here, with one plain io source for the socket, and so is reading where
/// the peer is a stranger: an `Intake` hands libsystemd whole messages that it has looked at. Its own
/// `sd_bus_attach_event` costs every connection time in every turn of the loop, and misses bytes that arrive in
/// one piece with the end of the authentication: so, after each wake, messages are processed until there is none.
public final class BusConnection {
    public enum Role: Sendable { case server, client }

    public enum End: Hashable, Sendable {
        /// The other side closed, or died.
        case disconnected
        case authenticationTimedOut
        /// It did not read what it was sent: more was queued than a bound allows.
        case tooMuchQueued
        case messageTooLong(bytes: Int)
        /// It began a message and did not end it in time.
        case messageNotWhole
        /// It sent what a stranger may not: what, in a sentence that goes on after "it was disconnected:".
        case unfit(String)
        /// It sent what is no D-Bus, or the socket failed.
        case fault(SystemFault)
    }

    /// Messages in one turn: one peer that never stops talking must not keep the others waiting. A turn that takes long
    /// ends earlier (`Turns`).
    public static let messagesPerTurnMax = 64
    /// What a peer may leave unread beyond the kernel's buffer. Reliability (a)7: such a peer is disconnected,
    /// it alone, before it costs others memory.
    public static let queuedMessagesMax = 1024
    public static let queuedBytesMax = 256 * 1024
    /// The same of all peers of a server together: a fifth of what its unit may have (`MemoryMax=256M`), beside as much in
    /// the kernel. Beyond it the one that has left most is disconnected.
    public static let queuedInAllMax = 48 * 1024 * 1024
    /// What a server takes from a stranger for one message, in bytes. It is known before anything of it is read.
    public static let messageBytesMax = MessageFramer.messageBytesMax
    /// The kernel's part of the queue. libsystemd asks for 8 MiB, and as root gets it, for every peer.
    public static let sendBufferBytes: Int32 = 128 * 1024

    // What every send looks at lies together at the beginning: a signal goes to a thousand connections.
    let bus: OpaquePointer
    public private(set) var isOpen = true
    /// The peer has authenticated.
    public internal(set) var isReady = false
    var isQuiet = false
    var isEnding = false
    var processing = false
    /// For the owner's use.
    public var tag: UInt64 = 0
    /// Which signals the peer wants; nil: all of them.
    package var wanted: SignalRules?
    /// The account that its turns are charged to. A change takes effect with the next turn that it asks for.
    public var account: TurnAccount
    let number: UInt64
    /// Only a server says itself who sends its messages.
    let isServer: Bool
    var waitsForTurn = false
    /// What is left to be done of messages that have been read, the first first.
    var rest: [(_ end: Int64) -> Bool] = []
    let loop: EventLoop
    let traffic: BusTraffic
    var io: IOSource?
    /// A duplicate of the socket, to wait on. libsystemd closes its own as soon as it sees the peer's end; were that the
    /// one the loop waits on, it could not be taken out of the loop any more while a process that was forked just then
    /// still has it, and its next event would find a source that is no more.
    var waitedOn: Int32 = -1
    var delegate: (any BusConnectionDelegate)?
    var authenticateBy: Int64
    var deadline: Int64?
    var outgoing = MessageWriter()
    /// What a peer that does not read has left of that.
    var stuck: [UInt8] = []
    /// What is to be sent behind it.
    var held: [BusMessage] = []
    /// Payload of each queued message, the oldest first; empty for a peer that reads.
    var queued: [Int] = []
    private var queuedBytes = 0
    private var sealCookie: UInt64 = 0
    var somethingArrived = false
    /// Nil where the peer is trusted: for a client, and a server on a socket pair.
    var intake: Intake?
    /// What a peer without an intake may send in one message; nil: what libsystemd takes. Set before the first turn.
    public var bound: MessageBound?
    var pendingEnd: End? { didSet { isEnding = pendingEnd != nil } }

    /// Takes over the descriptor of a connected Unix stream socket, also when it throws. Begins at once; the
    /// delegate is held until the connection ends.
    /// - Parameter anonymous: For a server on a socketpair, whose ends may belong to different users, and which trusts its peer. A
    ///   server on a listening socket never wants this: then the peer must name the user the kernel says it is, and
    ///   nothing it sends is believed before it was looked at.
    /// - Parameter keepers: They take a stranger's descriptors; nil: a stranger that passes one is disconnected.
    public init(
        adopting descriptor: Int32, as role: Role, on loop: EventLoop, delegate: any BusConnectionDelegate,
        anonymous: Bool = false, account: TurnAccount = .own, keepers: DescriptorKeepers? = nil
    ) throws(SystemFault) {
        let isStranger = role == .server && !anonymous
        let sockets: Sockets
        do throws(SystemFault) {
            traffic = try loop.part(BusTraffic.self)
            sockets = try Sockets(descriptor, isStranger ? traffic : nil, keepers)
        } catch {
            if let keepers, isStranger {
                keepers.close(descriptor, user: UInt32.max)
            } else {
                Glibc.close(descriptor)
            }
            throw error
        }
        bus = sockets.bus
        intake = sockets.intake
        waitedOn = sockets.waitedOn
        self.loop = loop
        self.account = account
        number = traffic.turns.number()
        isServer = role == .server
        self.delegate = delegate
        authenticateBy = EventLoop.now + AuthenticationGate.timeMax
        if role == .server { _ = sd_bus_set_server(bus, 1, Self.ownID) }
        // With an intake libsystemd's peer is this process; the intake has checked the stranger's user.
        _ = sd_bus_set_anonymous(bus, anonymous || intake != nil ? 1 : 0)
        _ = sd_bus_negotiate_fds(bus, 1)
        // Nobody here asks for what libsystemd would otherwise gather about each sender.
        _ = sd_bus_negotiate_creds(bus, 1, 0)
        _ = sd_bus_set_exit_on_disconnect(bus, 0)
        let this = Unmanaged.passUnretained(self).toOpaque()
        try check(sd_bus_add_filter(bus, nil, messageArrived, this), "start a connection")
        try check(sd_bus_start(bus), "start a connection")
        _ = camarb_set_send_buffer(descriptor, BusConnection.sendBufferBytes)
        io = try loop.addIO(waitedOn, .readable) { [unowned self] _ in self.wake() }
        intake?.whenRead = { [unowned self] end in self.keeperRead(end) }
        refresh()
        // sd_bus_start may already have swallowed the peer's first bytes.
        askForTurn()
    }

    deinit {
        stopWaiting()
        sd_bus_close(bus)
        _ = sd_bus_unref(bus)
    }

    /// What a server of this process calls itself, in every connection: a peer tells another process in its place by it.
    private static let ownID: sd_id128_t = {
        var id = sd_id128_t()
        _ = sd_id128_randomize(&id)
        return id
    }()

    /// Ends it now, without telling the delegate. What is queued is lost; calls under way are answered with
    /// `.disconnected`. Idempotent.
    public func close() {
        guard isOpen else { return }
        shut()
        delegate = nil
        loop.defer { [self] in failCalls() }
    }

    // MARK: Sending

    /// Half of what may be queued is queued: callers that can leave something out do it now, while the peer can still be told.
    public var isBehind: Bool {
        queued.count + held.count > Self.queuedMessagesMax / 2 || queuedBytes + waitingBytes > Self.queuedBytesMax / 2
    }

    /// Sends or queues. False when the connection is over or the message could not be built; a peer that does not
    /// read is disconnected a moment later.
    @discardableResult
    public func send(_ message: BusMessage) -> Bool {
        guard isOpen, !isEnding, message.buildFault == nil else { return false }
        if wanted != nil, message.kind == .signal,
            !wants(path: message.path, interface: message.interface, member: message.member)
        {
            return true
        }
        flush()
        guard stuck.isEmpty else {
            let before = waitingBytes
            held.append(message)
            lookAtStuck(before)
            return true
        }
        let result = sd_bus_send(bus, message.pointer, nil)
        if result < 0 {
            let fault = SystemFault("send a message", result)
            if fault.saysThatThePeerIsGone {
                askForTurn()
            } else if fault.number == EOPNOTSUPP {
                // The peer never said that it takes descriptors.
                message.buildFault = SystemFault("send a descriptor", result)
            } else {
                endSoon(.fault(fault))
            }
            return false
        }
        account(message.payloadBytes)
        return true
    }

    // Those of `BusConnection+Calls`.
    var calls: [ObjectIdentifier: PendingCall] = [:]
    private var callsMade: UInt64 = 0
    func nextCallNumber() -> UInt64 {
        callsMade += 1
        return callsMade
    }
    var untilReady: [() -> Void] = []

    /// Nobody answers a signal, so its cookie only has to be different from 0.
    func nextSealCookie() -> UInt64 {
        sealCookie = (sealCookie & 0xffff) + 1
        return sealCookie
    }

    func account(_ payload: Int) {
        var count: UInt64 = 0
        _ = sd_bus_get_n_queued_write(bus, &count)
        if count == 0 {
            // The usual case, made short: everything went out, and nothing waits for anything.
            if isQuiet { return }
            forgetQueued(0)
        } else {
            // Header, path, names and padding: about 256 bytes in messages of ours.
            queued.append(payload + 256)
            queuedBytes += payload + 256
            forgetQueued(Int(count))
            // The newest does not count: one long answer, such as a status with thousands of sessions, is no sign of a
            // peer that does not read.
            if isServer { traffic.unread.note(unreadBytes, of: self) }
            let before = queuedBytes - (queued.last ?? 0)
            if queued.count > BusConnection.queuedMessagesMax || before > BusConnection.queuedBytesMax {
                endSoon(.tooMuchQueued)
            }
        }
        refresh()
    }

    func forgetQueued(_ count: Int) {
        let gone = queued.count - count
        guard gone > 0 else { return }
        for payload in queued.prefix(gone) { queuedBytes -= payload }
        queued.removeFirst(gone)
        if queued.isEmpty { queued = [] }
        if isServer { traffic.unread.note(unreadBytes, of: self) }
    }

    var unreadBytes: Int { queuedBytes + waitingBytes }

    /// Never from inside a method that the owner called.
    func endSoon(_ end: End) {
        guard pendingEnd == nil else { return }
        pendingEnd = end
        loop.defer { [self] in if !processing { finish() } }
    }

    func finish() {
        guard isOpen, let end = pendingEnd else { return }
        let left = unreadBytes
        shut()
        if isServer, end == .tooMuchQueued, traffic.unread.isWorthGivingBack(left) { camarb_give_back_heap() }
        failCalls()
        let owner = delegate
        delegate = nil
        owner?.connectionEnded(self, end)
    }

    private func stopWaiting() {
        io?.cancel()
        io = nil
        // An intake's own, and closed with it.
        if waitedOn >= 0 && intake == nil { _ = Glibc.close(waitedOn) }
        waitedOn = -1
    }

    private func shut() {
        flush()
        isOpen = false
        stuck = []
        held = []
        rest = []
        traffic.turns.forget(self)
        if isServer { traffic.unread.note(0, of: self) }
        stopWaiting()
        if deadline != nil {
            deadline = nil
            traffic.deadlines.set(nil, for: self)
        }
        sd_bus_close(bus)
        intake = nil
        queued = []
        queuedBytes = 0
    }
}

private func messageArrived(
    _ message: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message, let data else { return 1 }
    Unmanaged<BusConnection>.fromOpaque(data).takeUnretainedValue().arrived(message)
    return 1
}
