import ArbiterProtocol
import CLinux
import CSystemd
import Glibc
import System

/// A connection's turns on the loop: reading, one message after the other, and what is waited for in between.
extension BusConnection {
    func wake() {
        if !waitsForTurn && traffic.turns.mayGoAtOnce(self, at: EventLoop.now) { takeTurn() } else { askForTurn() }
    }

    /// A turn later, when it is this connection's. Until then nothing of the socket wakes the loop.
    func askForTurn() {
        guard isOpen, !waitsForTurn else { return }
        waitsForTurn = true
        io?.isEnabled = false
        traffic.turns.ask(self)
    }

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
    /// more of it is read before it is done. Dropped when the connection ends. Work that is added meanwhile comes after it.
    /// - Parameter work: does a part of it, until the moment `end` at the latest, in nanoseconds; true: it is done.
    public func goOn(_ work: @escaping (_ end: Int64) -> Bool) {
        guard isOpen else { return }
        rest.append(work)
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
        // The connection may end in it.
        if let work = rest.first, work(end), !rest.isEmpty { rest.removeFirst() }
        var result: Int32 = 1
        var messages = 0
        while result > 0 && isOpen && pendingEnd == nil && rest.isEmpty && messages < BusConnection.messagesPerTurnMax
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
        case .refused(let message):
            refuse(message)
            return 1
        case .fed(let isWhole, let isAll):
            var result: Int32 = 1
            // Until the message has arrived: libsystemd may have written something first.
            while result > 0 && isOpen && pendingEnd == nil && !(isWhole && somethingArrived) {
                result = sd_bus_process(bus, nil)
            }
            // libsystemd reads a message to its end and no further: where one has arrived, nothing is left of what was fed.
            if !(isWhole && somethingArrived) { intake.clear(traffic.readingBuffer) }
            // One that is malformed never arrives.
            if isWhole && !somethingArrived { _ = intake.takePassed() }
            // Whatever comes later wakes the loop: asking now would nearly always find nothing.
            return result < 0 ? result : isWhole && isAll && somethingArrived ? 0 : 1
        }
    }

    /// Answers a message of which libsystemd has nothing. A peer that has not read what it was sent is not told.
    private func refuse(_ message: Intake.Refused) {
        guard let serial = message.serial else { return }
        let most = BusMessage.descriptorsMax
        guard isDirect else {
            pendingEnd = .unfit(
                "it passed \(message.descriptors) descriptors with one message, where \(most) are the most")
            return
        }
        write(.error(name: BrokerError.Kind.limitExceeded.rawValue, to: serial, destination: nil), "s") {
            $0.append(
                "The message brought \(message.descriptors) file descriptors, and one may bring at most \(most): "
                    + "none of them was taken, and nothing was done.")
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

    func keeperRead(_ end: End?) {
        guard isOpen else { return }
        if let end { endSoon(end) } else { askForTurn() }
    }

    func arrived(_ pointer: OpaquePointer) {
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
        // An answer that is here already counts: this process may have been the slow one. So does the rest of a message.
        takeTurn()
        failCallsDue()
        if isOpen { refresh() }
        if isOpen, let wholeBy = intake?.wholeBy, EventLoop.now >= wholeBy, intake?.isAtKeeper == false {
            endSoon(.messageNotWhole)
        }
    }

    func refresh() {
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
}
