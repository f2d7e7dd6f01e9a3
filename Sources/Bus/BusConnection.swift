public import ArbiterProtocol
import CLinux
import CSystemd
import Glibc
public import Loop

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
        /// It did not authenticate in time.
        case authenticationTimedOut
        /// It did not read what it was sent: more was queued than a bound allows.
        case tooMuchQueued
        /// It began a message that is longer than the bound.
        case messageTooLong(bytes: Int)
        /// It began a message and did not end it in time.
        case messageNotWhole
        /// It sent what a stranger may not: what, in a sentence that goes on after "it was disconnected:".
        case unfit(String)
        /// It sent what is no D-Bus, or the socket failed.
        case fault(SystemFault)
    }

    /// Messages in one turn: one peer that never stops talking must not keep the others waiting. A turn ends before
    /// where it takes long (`Turns`).
    public static let messagesPerTurnMax = 64
    /// What a peer may leave unread beyond the kernel's buffer. Reliability (a)7: such a peer is disconnected,
    /// it alone, before it costs others memory.
    public static let queuedMessagesMax = 1024
    public static let queuedBytesMax = 256 * 1024
    /// What a server takes from a stranger for one message, in bytes. It is known before anything of it is read.
    public static let messageBytesMax = MessageFramer.messageBytesMax
    /// The kernel's part of the queue. libsystemd asks for 8 MiB, and as root gets it, for every peer.
    public static let sendBufferBytes: Int32 = 128 * 1024
    /// Nanoseconds. 5 s failed slow boots with dbus-daemon.
    public static let authenticationTimeMax: Int64 = 10_000_000_000

    // What every send looks at lies together at the beginning: one signal to a thousand connections is a thousand
    // times as many cache misses.
    let bus: OpaquePointer
    public private(set) var isOpen = true
    /// The peer has authenticated.
    public private(set) var isReady = false
    /// Ready, with nothing queued, and no deadline.
    private var isQuiet = false
    private var isEnding = false
    private var processing = false
    /// For the owner's use.
    public var tag: UInt64 = 0
    /// Which signals the peer wants; nil: all of them.
    package var wanted: SignalRules?
    /// For whom it has its turns. Counts from the next one on that it asks for.
    public var account: TurnAccount
    /// What the order of turns calls it.
    let number: UInt64
    /// Nobody else says who sends its messages.
    let isServer: Bool
    private var waitsForTurn = false
    /// What is left to be done of a message that has been read.
    private var rest: ((_ end: Int64) -> Bool)?
    let loop: EventLoop
    let traffic: BusTraffic
    private var io: IOSource?
    /// A duplicate of the socket, to wait on. libsystemd closes its own as soon as it sees the peer's end; were that the
    /// one the loop waits on, it could not be taken out of the loop any more while a process that was forked just then
    /// still has it, and its next event would find a source that is no more.
    private var waitedOn: Int32 = -1
    private var delegate: (any BusConnectionDelegate)?
    private var authenticateBy: Int64
    private var deadline: Int64?
    /// What was written in this turn, and leaves at its end.
    private var outgoing = MessageWriter()
    /// What a peer that does not read has left of that.
    private var stuck: [UInt8] = []
    /// What is to be sent behind it.
    private var held: [BusMessage] = []
    /// Payload of each queued message, the oldest first; empty for a peer that reads.
    private var queued: [Int] = []
    private var queuedBytes = 0
    private var sealCookie: UInt64 = 0
    private var somethingArrived = false
    /// Nil where the peer is trusted: for a client, and a server on a socket pair.
    private var intake: Intake?
    /// What a peer without an intake may send in one message; nil: what libsystemd takes. For the owner to set, before the
    /// first turn.
    public var bound: MessageBound?
    private var pendingEnd: End? { didSet { isEnding = pendingEnd != nil } }

    /// Takes over the descriptor of a connected Unix stream socket, also when it throws. Begins at once; the
    /// delegate is held until the connection ends.
    /// - Parameters:
    ///   - anonymous: For a server on a socketpair, whose ends may belong to different users, and which trusts its peer. A
    ///     server on a listening socket never wants this: then the peer must name the user the kernel says it is, and
    ///     nothing it sends is believed before it was looked at.
    ///   - keepers: Who takes a stranger's descriptors; nil: a stranger that passes one is disconnected.
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
        authenticateBy = EventLoop.now + BusConnection.authenticationTimeMax
        if role == .server {
            _ = sd_bus_set_server(bus, 1, Self.ownID)
        }
        // With an intake libsystemd's peer is this process, and the intake has looked at who the stranger is.
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

    /// What a connection stands on.
    private struct Sockets {
        let bus: OpaquePointer
        var waitedOn: Int32
        var intake: Intake?

        /// - Parameter traffic: of a stranger's connection; nil where the peer is trusted.
        /// - Throws: with the descriptor still the caller's.
        init(_ descriptor: Int32, _ traffic: BusTraffic?, _ keepers: DescriptorKeepers?) throws(SystemFault) {
            var created: OpaquePointer?
            let result = sd_bus_new(&created)
            guard result >= 0, let created else { throw SystemFault("create a connection", result) }
            bus = created
            waitedOn = camarb_duplicate(descriptor)
            do throws(SystemFault) {
                try check(waitedOn, "start a connection")
                var input = descriptor
                if let traffic { input = try takeIn(descriptor, traffic, keepers) }
                let adopted = sd_bus_set_fd(bus, input, descriptor)
                if adopted < 0 && traffic != nil { Glibc.close(input) }
                try check(adopted, "adopt descriptor \(descriptor)")
            } catch {
                // An intake has it, and closes it.
                if waitedOn >= 0 && intake == nil { Glibc.close(waitedOn) }
                _ = sd_bus_unref(bus)
                throw error
            }
        }

        /// - Returns: what libsystemd reads in the stranger's place.
        private mutating func takeIn(
            _ descriptor: Int32, _ traffic: BusTraffic, _ keepers: DescriptorKeepers?
        ) throws(SystemFault) -> Int32 {
            var user: uid_t = 0
            try check(camarb_peer_user(descriptor, &user), "tell who connected")
            let feed = try traffic.feedForStrangers()
            let outlet = try feed.newOutlet()
            intake = Intake(socket: waitedOn, feed: feed, user: user, keepers: keepers)
            return outlet
        }
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

    /// What the server at the other end calls itself, as 32 hexadecimal digits; nil before it has authenticated this one.
    package var serverID: String? {
        var id = sd_id128_t()
        // Asked of a connection that is not ready, libsystemd would wait until it is.
        guard isReady, sd_bus_get_bus_id(bus, &id) >= 0 else { return nil }
        return String(id)
    }

    /// Ends it now, without telling the delegate. What is queued is lost; calls under way are answered with
    /// `.disconnected`. Idempotent.
    public func close() {
        guard isOpen else { return }
        shut()
        delegate = nil
        loop.defer { [self] in failCalls() }
    }

    // MARK: Sending

    /// Half of what may be queued is: whoever can leave something out does it now, and the peer can still be told.
    public var isBehind: Bool {
        queued.count + held.count > Self.queuedMessagesMax / 2 || queuedBytes + stuck.count > Self.queuedBytesMax / 2
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
            held.append(message)
            lookAtStuck()
            return true
        }
        let result = sd_bus_send(bus, message.pointer, nil)
        if result < 0 {
            switch -result {
            case ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN: askForTurn()
            // The peer never said that it takes descriptors.
            case EOPNOTSUPP: message.buildFault = SystemFault("send a descriptor", result)
            default: endSoon(.fault(SystemFault("send a message", result)))
            }
            return false
        }
        account(message.payloadBytes)
        return true
    }

    /// A call whose answer the handler gets: the arguments, the peer's error, `.noReply` after `timeout`
    /// nanoseconds, or `.disconnected`. The handler is called exactly once, on the loop's thread, never from in here.
    ///
    /// Before the peer is ready the call waits here, since libsystemd would block until it knows whether the peer
    /// takes descriptors. Descriptors among the arguments stay the caller's, who keeps them open until the answer.
    /// - Parameter destination: a name, where the peer is a message bus.
    public func call(
        to destination: String? = nil, path: String, interface: String, member: String, _ arguments: [WireValue] = [],
        timeout: Int64 = 25_000_000_000, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        call(
            to: destination, path: path, interface: interface, member: member, timeout: timeout,
            filling: { message in for argument in arguments { message.append(argument) } }, handler)
    }

    /// The same, for arguments of types that `WireValue` does not have: `filling` appends them.
    public func call(
        to destination: String? = nil, path: String, interface: String, member: String,
        timeout: Int64 = 25_000_000_000,
        filling fill: @escaping (BusMessage) -> Void, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        let pending = PendingCall(self, timeout, handler)
        if isOpen && pendingEnd == nil && !isReady {
            calls[ObjectIdentifier(pending)] = pending
            untilReady.append { [self] in
                makeCall(pending, to: destination, path: path, interface: interface, member: member, fill)
            }
        } else {
            makeCall(pending, to: destination, path: path, interface: interface, member: member, fill)
        }
    }

    private func makeCall(
        _ pending: PendingCall, to destination: String?, path: String, interface: String, member: String,
        _ fill: (BusMessage) -> Void
    ) {
        do {
            guard isOpen, pendingEnd == nil else { throw BrokerError(.disconnected, "The connection is closed.") }
            let message = try BusMessage.call(
                on: self, to: destination, path: path, interface: interface, member: member)
            fill(message)
            if let fault = message.buildFault { throw fault }
            var slot: OpaquePointer?
            let box = Unmanaged.passRetained(pending)
            // Without libsystemd's own time limit, which knows one clock: it is ours (`deadlinePassed`).
            let result = sd_bus_call_async(bus, &slot, message.pointer, callAnswered, box.toOpaque(), .max)
            guard result >= 0, let slot else {
                box.release()
                throw SystemFault("call \(interface).\(member)", result)
            }
            // The slot keeps the box, and the call the slot, until it is finished.
            _ = sd_bus_slot_set_destroy_callback(slot) { data in
                if let data { Unmanaged<PendingCall>.fromOpaque(data).release() }
            }
            pending.wasMade(slot)
            calls[ObjectIdentifier(pending)] = pending
            isQuiet = false
            account(message.payloadBytes)
        } catch {
            calls[ObjectIdentifier(pending)] = nil
            let told = error as? BrokerError ?? BrokerError(.invalidArguments, "\(error).")
            loop.defer { pending.finish(.failure(told)) }
        }
    }

    private var calls: [ObjectIdentifier: PendingCall] = [:]
    private var callsMade: UInt64 = 0
    fileprivate func nextCallNumber() -> UInt64 {
        callsMade += 1
        return callsMade
    }
    /// Calls made before the peer was ready.
    private var untilReady: [() -> Void] = []

    fileprivate func answered(_ pending: PendingCall, _ message: OpaquePointer) {
        somethingArrived = true
        calls[ObjectIdentifier(pending)] = nil
        // While the connection ends libsystemd answers for the peer, as if a time limit had passed.
        if sd_bus_is_open(bus) <= 0 {
            pending.finish(.failure(BrokerError(.disconnected, "The connection ended before the answer came.")))
            return
        }
        let answer = BusMessage(borrowing: message, self)
        if let error = answer.error { pending.finish(.failure(error)) } else { pending.finish(.success(answer)) }
    }

    /// Those whose time is up, in the order in which they were made.
    private func failCallsDue() {
        let now = EventLoop.now
        let due = calls.values.filter { $0.deadline <= now }.sorted { $0.number < $1.number }
        for pending in due {
            calls[ObjectIdentifier(pending)] = nil
            pending.finish(
                .failure(BrokerError(.noReply, "No answer came within \(pending.timeout / 1_000_000_000) s.")))
        }
    }

    private func failCalls() {
        untilReady = []
        let open = calls.values.sorted { $0.number < $1.number }
        calls = [:]
        for pending in open {
            pending.finish(.failure(BrokerError(.disconnected, "The connection ended before the answer came.")))
        }
    }

    /// Nobody answers a signal, so its cookie only has to be different from 0.
    func nextSealCookie() -> UInt64 {
        sealCookie = (sealCookie & 0xffff) + 1
        return sealCookie
    }

    // MARK: Writing without libsystemd

    /// Whether messages may be written directly: to a stranger that reads, and nothing of libsystemd's waits before them.
    private var isDirect: Bool { intake != nil && isReady && isOpen && !isEnding && queued.isEmpty && held.isEmpty }

    /// Writes a signal. It leaves at the end of the turn, together with all else that is written to this peer in it; in no
    /// turn, right after the present handler.
    /// - Parameter signature: of what `body` appends, which has no descriptor in it.
    package func signal(
        path: String, interface: String, member: String, signature: String, _ body: (inout MessageWriter) -> Void
    ) -> Bool {
        if !wants(path: path, interface: interface, member: member) { return true }
        guard isDirect else { return false }
        write(.signal(path: path, interface: interface, member: member), signature, body)
        return true
    }

    /// The same; where it cannot be written directly libsystemd sends it.
    package func signal(path: String, interface: String, member: String, _ arguments: [WireValue]) {
        let isWritten = signal(
            path: path, interface: interface, member: member, signature: arguments.map(\.signature).joined()
        ) { writer in for argument in arguments { writer.append(argument) } }
        if isWritten { return }
        let message = BusMessage.signal(on: self, path: path, interface: interface, member: member)
        for argument in arguments { message?.append(argument) }
        message?.send()
    }

    /// A message that was written already, for this peer among others.
    package func send(_ message: SealedSignal) {
        if let wanted, !wanted.want(path: message.path, interface: message.interface, member: message.member) { return }
        guard isDirect else { return message.send(on: self) }
        if outgoing.bytes.isEmpty && stuck.isEmpty {
            // Nothing to be before it, and nothing is copied: a thousand peers are a thousand sends.
            let sent = message.bytes.withUnsafeBytes { sendNow($0) }
            if sent < message.bytes.count { keep(message.bytes, from: sent) }
            return
        }
        beginWriting()
        outgoing.append(whole: message.bytes)
    }

    func write(_ head: MessageWriter.Head, _ signature: String, _ body: (inout MessageWriter) -> Void) {
        beginWriting()
        outgoing.message(head, serial: traffic.nextSerial(), signature: signature, body)
    }

    var canWrite: Bool { isDirect }

    /// What the bus says, which is not there, is for whoever called it.
    private func wants(path: String, interface: String, member: String) -> Bool {
        guard let wanted, interface != "org.freedesktop.DBus" else { return true }
        return wanted.want(path: path, interface: interface, member: member)
    }

    private func beginWriting() {
        guard outgoing.bytes.isEmpty else { return }
        outgoing = traffic.writer()
        traffic.hasWritten(self)
    }

    /// What was written leaves now.
    package func flush() {
        guard !outgoing.bytes.isEmpty else { return }
        var written = MessageWriter()
        swap(&written, &outgoing)
        defer { traffic.giveBack(written) }
        guard isOpen else { return }
        let sent = stuck.isEmpty ? written.bytes.withUnsafeBytes { sendNow($0) } : 0
        if sent < written.bytes.count { keep(written.bytes, from: sent) }
    }

    /// - Returns: bytes that the kernel took; all of them where the connection is over, which its end tells.
    private func sendNow(_ bytes: UnsafeRawBufferPointer) -> Int {
        while true {
            let sent = Glibc.send(waitedOn, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            if sent >= 0 { return sent }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default:
                askForTurn()
                return bytes.count
            }
        }
    }

    private func keep(_ bytes: [UInt8], from place: Int) {
        stuck.append(contentsOf: bytes[place...])
        lookAtStuck()
    }

    private func lookAtStuck() {
        if stuck.count > Self.queuedBytesMax || held.count > Self.queuedMessagesMax { return endSoon(.tooMuchQueued) }
        refresh()
    }

    private func sendStuck() {
        let sent = stuck.withUnsafeBytes { sendNow($0) }
        stuck.removeFirst(sent)
        guard stuck.isEmpty else { return }
        stuck = []
        let waiting = held
        held = []
        for message in waiting { send(message) }
    }

    private func account(_ payload: Int) {
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
            let before = queuedBytes - (queued.last ?? 0)
            if queued.count > BusConnection.queuedMessagesMax || before > BusConnection.queuedBytesMax {
                endSoon(.tooMuchQueued)
            }
        }
        refresh()
    }

    private func forgetQueued(_ count: Int) {
        let gone = queued.count - count
        guard gone > 0 else { return }
        for payload in queued.prefix(gone) { queuedBytes -= payload }
        queued.removeFirst(gone)
        if queued.isEmpty { queued = [] }
    }

    // MARK: Turns

    /// There is something to read, or room to write.
    private func wake() {
        if !waitsForTurn && traffic.turns.mayGoAtOnce(self, at: EventLoop.now) { takeTurn() } else { askForTurn() }
    }

    /// A turn later, when it is this connection's. Until then nothing of the socket wakes the loop.
    private func askForTurn() {
        guard isOpen, !waitsForTurn else { return }
        waitsForTurn = true
        io?.isEnabled = false
        traffic.turns.ask(self)
    }

    /// The turn that was asked for, or one at once.
    func takeTurn() {
        let begun = EventLoop.now
        waitsForTurn = false
        turn(until: begun + traffic.turns.slice)
        // Nor while a keeper reads: it says when it has.
        if !waitsForTurn && intake?.isAtKeeper != true { io?.isEnabled = true }
        let now = EventLoop.now
        traffic.turns.used(self, now - begun, at: now)
    }

    /// For a message whose work may be longer than a turn: the work goes on in this connection's own turns, and nothing
    /// more of it is read before it is done. Dropped when the connection ends.
    /// - Parameter work: does a part of it, until the moment `end` at the latest, in nanoseconds; true: it is done.
    public func goOn(_ work: @escaping (_ end: Int64) -> Bool) {
        precondition(rest == nil, "A message was read before the work of the one before it was done.")
        rest = work
        askForTurn()
    }

    /// Processes messages until there is none, or the turn is over; then the rest has another one.
    private func turn(until end: Int64) {
        guard isOpen, !processing else { return }
        // A peer that waits for room to write, and reads nothing before, is read from all the same: libsystemd writes nothing
        // by itself, and so nothing comes in between.
        if !stuck.isEmpty { sendStuck() }
        processing = true
        traffic.turnBegins()
        defer { traffic.turnEnds() }
        if let work = rest, work(end) { rest = nil }
        var result: Int32 = 1
        var messages = 0
        while result > 0 && isOpen && pendingEnd == nil && rest == nil && messages < BusConnection.messagesPerTurnMax
            && (messages == 0 || EventLoop.now < end)
        {
            somethingArrived = false
            result = process()
            messages += 1
            // All that the message led to, for everybody it was news for.
            traffic.flush()
            if !isReady && isOpen && result >= 0 && sd_bus_is_ready(bus) > 0 {
                isReady = true
                let waiting = untilReady
                untilReady = []
                for call in waiting { call() }
                delegate?.connectionReady(self)
            }
        }
        processing = false
        guard isOpen else { return }
        if result < 0 && pendingEnd == nil { pendingEnd = .fault(SystemFault("read a message", result)) }
        if pendingEnd != nil {
            finish()
            return
        }
        // Messages may be left in libsystemd's own buffer, and nothing would wake us for them.
        if result > 0 { askForTurn() }
        if !queued.isEmpty {
            var count: UInt64 = 0
            _ = sd_bus_get_n_queued_write(bus, &count)
            forgetQueued(Int(count))
        }
        refresh()
    }

    /// One step of libsystemd's, with a stranger's next message to read.
    /// - Returns: above 0 while there is more to do at once; 0 when nothing is left; or libsystemd's fault.
    private func process() -> Int32 {
        guard let intake else { return processBounded() }
        // Once libsystemd is closing it reads nothing any more.
        guard sd_bus_is_open(bus) > 0 else { return sd_bus_process(bus, nil) }
        switch intake.read(into: traffic.readingBuffer) {
        case .nothing: return sd_bus_process(bus, nil)
        case .atKeeper:
            io?.isEnabled = false
            return 0
        case .over(let end):
            intake.clear(traffic.readingBuffer)
            pendingEnd = end
            return 0
        case .fed(let isWhole, let isAll):
            var result: Int32 = 1
            // Until it has come of it: libsystemd may have had something to write first.
            while result > 0 && isOpen && pendingEnd == nil && !(isWhole && somethingArrived) {
                result = sd_bus_process(bus, nil)
            }
            intake.clear(traffic.readingBuffer)
            // One that is malformed never arrives.
            if isWhole && !somethingArrived { _ = intake.takePassed() }
            // What comes after all that there was wakes the loop: asking for it now would nearly always be in vain.
            return result < 0 ? result : isWhole && isAll && somethingArrived ? 0 : 1
        }
    }

    /// One step of libsystemd's with a peer that has no intake, and may have a bound.
    private func processBounded() -> Int32 {
        guard bound != nil else { return sd_bus_process(bus, nil) }
        var bytes = [UInt8](repeating: 0, count: isReady ? MessageFramer.headerBytes : MessageBound.peekedBytesMax)
        let count = bytes.withUnsafeMutableBytes { camarb_peek(waitedOn, $0.baseAddress, $0.count) }
        switch bound?.verdict(bytes.prefix(max(0, count)), isAuthenticated: isReady) {
        case .fine, nil: break
        case .tooLong(let bytes):
            pendingEnd = .messageTooLong(bytes: bytes)
            return 0
        case .broken:
            pendingEnd = .fault(SystemFault("read the beginning of a message", -EBADMSG))
            return 0
        }
        let unread = Int(camarb_unread_bytes(waitedOn))
        let unsent = unsentMessages
        let result = sd_bus_process(bus, nil)
        // Where one was sent, nothing was read: libsystemd does one of the two.
        let hasRead = isReady && result > 0 && unsentMessages >= unsent
        if bound?.processed(arrived: somethingArrived, hasRead: hasRead, unread: unread) == false && result >= 0 {
            pendingEnd = .fault(SystemFault("read a message", -EBADMSG))
        }
        return result
    }

    private var unsentMessages: UInt64 {
        var count: UInt64 = 0
        _ = sd_bus_get_n_queued_write(bus, &count)
        return count
    }

    /// A keeper has read what came with descriptors.
    private func keeperRead(_ end: End?) {
        guard isOpen else { return }
        if let end { endSoon(end) } else { askForTurn() }
    }

    fileprivate func arrived(_ pointer: OpaquePointer) {
        guard isOpen else { return }
        somethingArrived = true
        if sd_bus_message_is_signal(pointer, "org.freedesktop.DBus.Local", "Disconnected") > 0 {
            // The peer could send such a signal itself: only a bus that is closed tells the truth.
            guard sd_bus_is_open(bus) <= 0 else { return }
            if pendingEnd == nil { pendingEnd = .disconnected }
            return
        }
        let message = BusMessage(borrowing: pointer, self)
        if let intake { message.passed = intake.takePassed() }
        delegate?.connection(self, received: message)
    }

    func deadlinePassed() {
        deadline = nil
        guard isOpen else { return }
        if !isReady && EventLoop.now >= authenticateBy { return endSoon(.authenticationTimedOut) }
        if processing { return }
        // An answer that is here already counts: this process may have been the slow one.
        // So does the rest of a message.
        takeTurn()
        failCallsDue()
        if isOpen { refresh() }
        if isOpen, let wholeBy = intake?.wholeBy, EventLoop.now >= wholeBy, intake?.isAtKeeper == false {
            endSoon(.messageNotWhole)
        }
    }

    /// What to wait for, and until when.
    private func refresh() {
        guard isOpen, pendingEnd == nil else { return }
        let wanted = sd_bus_get_events(bus)
        let waitsToWrite = wanted & POLLOUT != 0 || !stuck.isEmpty
        io?.events = waitsToWrite ? [.readable, .writable] : .readable
        var microseconds: UInt64 = 0
        var next = calls.values.lazy.map(\.deadline).min()
        // What libsystemd has to do at once; its time limits are ours.
        if sd_bus_get_timeout(bus, &microseconds) > 0 && microseconds == 0 { next = 0 }
        if !isReady { next = min(next ?? .max, authenticateBy) }
        if let wholeBy = intake?.wholeBy { next = min(next ?? .max, wholeBy) }
        if next != deadline {
            deadline = next
            traffic.deadlines.set(next, for: self)
        }
        isQuiet = isReady && !waitsToWrite && queued.isEmpty && next == nil
    }

    /// Never from inside a method that the owner called.
    private func endSoon(_ end: End) {
        guard pendingEnd == nil else { return }
        pendingEnd = end
        loop.defer { [self] in if !processing { finish() } }
    }

    private func finish() {
        guard isOpen, let end = pendingEnd else { return }
        shut()
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
        rest = nil
        traffic.turns.forget(self)
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

/// A call on its way, and whom to tell.
private final class PendingCall {
    let connection: BusConnection
    /// Nanoseconds that it may take.
    let timeout: Int64
    /// When its time is up; never, until it was made.
    private(set) var deadline = Int64.max
    /// In the order in which calls were made.
    private(set) var number: UInt64 = 0
    /// libsystemd's part of it, once it was made.
    private var slot: OpaquePointer?
    private var handler: ((Result<BusMessage, BrokerError>) -> Void)?

    init(
        _ connection: BusConnection, _ timeout: Int64, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        self.connection = connection
        self.timeout = timeout
        self.handler = handler
    }

    func wasMade(_ slot: OpaquePointer) {
        self.slot = slot
        number = connection.nextCallNumber()
        deadline = EventLoop.now + max(1, timeout)
    }

    func finish(_ result: Result<BusMessage, BrokerError>) {
        // An answer that comes later finds nobody.
        let made = slot
        slot = nil
        _ = sd_bus_slot_unref(made)
        let told = handler
        handler = nil
        told?(result)
    }
}

private func callAnswered(
    _ message: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message, let data else { return 1 }
    let pending = Unmanaged<PendingCall>.fromOpaque(data).takeUnretainedValue()
    pending.connection.answered(pending, message)
    return 1
}

private func messageArrived(
    _ message: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message, let data else { return 1 }
    Unmanaged<BusConnection>.fromOpaque(data).takeUnretainedValue().arrived(message)
    return 1
}
