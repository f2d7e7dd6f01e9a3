import ArbiterProtocol
import CLinux
import Glibc
public import System

/// A connection's owner, called on the loop's thread. No call comes from inside a call of the
/// connection's own methods: the owner is never re-entered.
public protocol BusConnectionDelegate: AnyObject {
    /// The peer has authenticated.
    func connectionReady(_ connection: BusConnection)
    /// A method call or a signal. Calls are answered now or later, but answered.
    func connection(_ connection: BusConnection, received message: BusMessage)
    /// It is over, and the descriptor is closed. Not called after `close()`.
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End)
}

/// One D-Bus connection over a Unix socket, peer to peer or with a message bus.
///
/// An `Intake` reads, a `MessageWriter` writes; what one turn writes to a peer leaves in one piece. A stranger's malformed
/// message is passed over, as libsystemd does; one of a trusted peer ends the connection.
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
    /// Messages and bytes that a peer may leave unread beyond the kernel's buffer. Reliability (a)7: such a peer is
    /// disconnected, it alone, before it costs others memory.
    public static let queuedMessagesMax = 1024
    public static let queuedBytesMax = 256 * 1024
    /// The same of all peers of a server together: a fifth of what its unit may have (`MemoryMax=256M`), beside as much in
    /// the kernel. Beyond it the one that has left most is disconnected.
    public static let queuedInAllMax = 48 * 1024 * 1024
    /// Bytes of one message of a stranger. The header names them before anything of the message is read.
    public static let messageBytesMax = MessageFramer.messageBytesMax
    /// The kernel's part of the queue.
    public static let sendBufferBytes: Int32 = 128 * 1024

    // The fields that every send reads lie together at the beginning: a signal goes to a thousand connections.
    public private(set) var isOpen = true
    /// The peer has authenticated.
    public internal(set) var isReady = false
    var isEnding = false
    let socket: Int32
    var outgoing = MessageWriter()
    /// Left by a peer that does not read, the oldest first.
    var unsent: [Unsent] = []
    var unsentBytes = 0
    /// Which signals the peer wants; nil: all of them.
    package var wanted: SignalRules?
    /// For the owner's use.
    public var tag: UInt64 = 0
    var processing = false
    /// Nothing waits: neither bytes, nor a call, nor the peer for its authentication.
    var isQuiet = false
    /// The peer takes nothing any more.
    var isDeaf = false
    /// The account that its turns are charged to. A change takes effect with the next turn that it asks for.
    public var account: TurnAccount
    let number: UInt64
    let isServer: Bool
    /// A stranger's malformed messages are passed over.
    let isStranger: Bool
    /// A message bus: its peers' calls and signals come by one connection.
    let isBus: Bool
    var waitsForTurn = false
    /// The peer takes descriptors.
    var passesDescriptors = false
    /// Work that messages have left to further turns, the oldest first.
    var rest: [(_ end: Int64) -> Bool] = []
    let loop: EventLoop
    let traffic: BusTraffic
    var io: IOSource?
    var delegate: (any BusConnectionDelegate)?
    let authenticateBy: Int64
    var deadline: Int64?
    /// Until the connection ends.
    var intake: Intake?
    var pendingEnd: End? { didSet { isEnding = pendingEnd != nil } }
    /// Calls under way, by their serials, and those that wait until the peer is ready.
    var calls: [UInt32: PendingCall] = [:]
    var untilReady: [PendingCall] = []

    /// Takes over the descriptor of a connected Unix stream socket, also when it throws. Begins at once; the
    /// delegate is held until the connection ends.
    /// - Parameter anonymous: For a server on a socketpair, whose ends may belong to different users, and which trusts its peer. A
    ///   server on a listening socket never wants this: then the peer must name the user the kernel says it is, and
    ///   nothing it sends is believed before it was looked at.
    /// - Parameter named: The user of a server's peer where the kernel does not name it, since the socket was made by this process.
    /// - Parameter keepers: They take a stranger's descriptors; nil: a stranger that passes one is disconnected. A client that has
    ///   them speaks to a message bus, on which strangers may send it what they like.
    public init(
        adopting descriptor: Int32, as role: Role, on loop: EventLoop, delegate: any BusConnectionDelegate,
        anonymous: Bool = false, named: UInt32? = nil, account: TurnAccount = .own, keepers: DescriptorKeepers? = nil
    ) throws(SystemFault) {
        isServer = role == .server
        isBus = !isServer && keepers != nil
        isStranger = isServer ? !anonymous : isBus
        socket = descriptor
        var user: uid_t = named ?? .max
        do throws(SystemFault) {
            traffic = try loop.part(BusTraffic.self)
            if isServer && isStranger && named == nil {
                try check(camarb_peer_user(descriptor, &user), "tell who connected")
            }
        } catch {
            if let keepers, isStranger { keepers.close(descriptor, user: .max) } else { Glibc.close(descriptor) }
            throw error
        }
        let peer: Intake.Peer = isStranger ? .stranger(user: user, keepers: keepers, traffic.held) : .trusted
        let gate = isServer ? AuthenticationGate(user: isStranger ? user : nil) : AuthenticationGate()
        intake = Intake(socket: descriptor, gate: gate, peer: peer, isBus: isBus)
        self.loop = loop
        self.account = account
        number = traffic.turns.number()
        self.delegate = delegate
        authenticateBy = EventLoop.now + AuthenticationGate.timeMax
        _ = camarb_set_send_buffer(descriptor, BusConnection.sendBufferBytes)
        io = try loop.addIO(descriptor, .readable) { [unowned self] _ in self.wake() }
        intake?.whenRead = { [unowned self] end in self.keeperRead(end) }
        if !isServer { transmit(AuthenticationGate.greeting[...]) }
        refresh()
    }

    deinit { stopWaiting() }

    /// Ends it now, without telling the delegate. What is queued is lost; calls under way are answered with
    /// `.disconnected`. Idempotent.
    public func close() {
        guard isOpen else { return }
        shut()
        delegate = nil
        loop.defer { [self] in failCalls() }
    }

    /// Bytes of one message of a trusted peer or a bus, header and body together. Set before the first turn.
    public var messageBytesMax: Int {
        get { intake?.bytesMax ?? 0 }
        set { intake?.bytesMax = newValue }
    }

    /// Never from inside a method that the owner called.
    func endSoon(_ end: End) {
        guard pendingEnd == nil else { return }
        pendingEnd = end
        loop.defer { [self] in if !processing { finish() } }
    }

    func finish() {
        guard isOpen, let end = pendingEnd else { return }
        let left = unsentBytes
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
        for message in unsent { message.close() }
        unsent = []
    }

    private func shut() {
        flush()
        isOpen = false
        rest = []
        traffic.turns.forget(self)
        stopWaiting()
        unsentBytes = 0
        if isServer { traffic.unread.note(0, of: self) }
        if deadline != nil {
            deadline = nil
            traffic.deadlines.set(nil, for: self)
        }
        // It closes the socket.
        intake = nil
    }
}
