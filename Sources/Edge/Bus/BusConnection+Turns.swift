import ArbiterProtocol
import CLinux
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
        // A peer that waits for room to write, and reads nothing before, is read from all the same.
        if !unsent.isEmpty { sendUnsent() }
        processing = true
        traffic.turnBegins()
        defer { traffic.turnEnds() }
        // The connection may end in it.
        if let work = rest.first, work(end), !rest.isEmpty { rest.removeFirst() }
        var isMore = true
        var messages = 0
        while isMore && isOpen && pendingEnd == nil && rest.isEmpty && messages < BusConnection.messagesPerTurnMax
            && (messages == 0 || EventLoop.now < end) && !waitsToWrite
        {
            isMore = process()
            messages += 1
            // All that the message led to, for everybody it was news for.
            traffic.flush()
        }
        if let end = intake?.rest(traffic.readingBuffer), pendingEnd == nil { pendingEnd = end }
        processing = false
        guard isOpen else { return }
        if pendingEnd != nil { return finish() }
        // Messages may be left that were received already, and nothing would wake us for them.
        if isMore && !waitsToWrite { askForTurn() }
        if !isQuiet { refresh() }
    }

    /// A bus is read when it has taken what was written to it. One of its peers could otherwise ask for so much that all of them lost the
    /// connection for what it has left unread.
    private var waitsToWrite: Bool { isBus && !unsent.isEmpty }

    /// Reads on.
    /// - Returns: there is more to do at once.
    private func process() -> Bool {
        guard let intake else { return false }
        switch intake.next(in: traffic.readingBuffer) {
        case .nothing:
            if isDeaf { pendingEnd = .disconnected }
            return false
        case .atKeeper:
            io?.isEnabled = false
            return false
        case .over(let end):
            pendingEnd = end
            return false
        case .refused(let message):
            refuse(message)
            return true
        case .part(let answer):
            isQuiet = false
            if !answer.isEmpty { transmit(answer[...]) }
            return true
        case .begun(let gate, let answer):
            if !answer.isEmpty { transmit(answer[...]) }
            becomeReady(gate)
            return true
        case .message(let bytes, let isAll):
            arrived(bytes, intake)
            // Later bytes wake the loop: looking now would nearly always find nothing.
            return !isAll
        }
    }

    private func becomeReady(_ gate: AuthenticationGate) {
        (isReady, passesDescriptors) = (true, gate.passesDescriptors)
        if !outgoing.isEmpty { flush() }
        let waiting = untilReady
        untilReady = []
        for call in waiting { call.make() }
        delegate?.connectionReady(self)
    }

    private func arrived(_ bytes: [UInt8], _ intake: Intake) {
        let head: MessageHead
        do throws(MessageReader.Malformed) { head = try MessageHead(bytes) } catch {
            _ = intake.takeDescriptors(0)
            return malformed()
        }
        guard let (own, passed) = intake.takeDescriptors(Int(head.descriptors)) else { return malformed() }
        let message = BusMessage(head, own, passed, on: self)
        switch message.kind {
        case .call, .signal: delegate?.connection(self, received: message)
        case .answer, .error: answered(message)
        }
    }

    private func malformed() {
        if !isStranger { pendingEnd = .fault(SystemFault("read a message", EBADMSG)) }
    }

    /// Answers a message that was not read. A peer that has not read what it was sent is not told.
    private func refuse(_ message: Intake.Refused) {
        guard let serial = message.serial else { return }
        let most = BusMessage.descriptorsMax
        guard unsent.isEmpty else {
            pendingEnd = .unfit(
                "it passed \(message.descriptors) descriptors with one message, where \(most) are the most")
            return
        }
        let name = BrokerError.Kind.limitExceeded.rawValue
        write(.error(name: name, to: serial, destination: nil, sender: ownName), "s") {
            $0.append(
                "The message brought \(message.descriptors) file descriptors, and one may bring at most \(most): "
                    + "none of them was taken, and nothing was done.")
        }
    }

    func keeperRead(_ end: End?) {
        guard isOpen else { return }
        if let end { endSoon(end) } else { askForTurn() }
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
        io?.events = unsent.isEmpty ? .readable : waitsToWrite ? .writable : [.readable, .writable]
        var next = calls.values.lazy.map { $0.deadline }.min()
        if !isReady { next = min(next ?? .max, authenticateBy) }
        if let wholeBy = intake?.wholeBy { next = min(next ?? .max, wholeBy) }
        if next != deadline {
            deadline = next
            traffic.deadlines.set(next, for: self)
        }
        isQuiet = isReady && unsent.isEmpty && next == nil
    }
}
