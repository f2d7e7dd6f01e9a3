public import ArbiterProtocol
import CLinux
import Glibc
import System

/// Writing: what one turn sends to a peer leaves in one piece.
extension BusConnection {
    /// Writes a signal. It leaves at the end of the turn, together with all else that is written to this peer in it;
    /// outside a turn, right after the present handler.
    /// - Parameter sender: nil: a server's own name; a message bus names its senders itself.
    public func signal(
        path: String, interface: String, member: String, sender: String? = nil, _ signature: String,
        _ body: (inout MessageWriter) -> Void
    ) {
        guard wants(path: path, interface: interface, member: member) else { return }
        write(.signal(path: path, interface: interface, member: member, sender: sender ?? ownName), signature, body)
    }

    public func signal(path: String, interface: String, member: String, _ arguments: [WireValue] = []) {
        signal(path: path, interface: interface, member: member, arguments.signature) { $0.append(all: arguments) }
    }

    package func send(_ message: SealedSignal) {
        guard wants(path: message.path, interface: message.interface, member: message.member), isReady, isOpen,
            !isEnding
        else { return }
        // Where nothing is to be before it, nothing is copied: a thousand peers are a thousand sends.
        if outgoing.isEmpty { transmit(message.bytes) } else { outgoing.append(whole: message.bytes) }
    }

    /// Signals in the name of the bus are sent to the client that called it, whatever its rules.
    private func wants(path: String, interface: String, member: String) -> Bool {
        guard let wanted, interface != "org.freedesktop.DBus" else { return true }
        return wanted.want(path: path, interface: interface, member: member)
    }

    var ownName: String? { isServer ? BusMessage.serverName : nil }

    @discardableResult
    func write(_ head: MessageWriter.Head, _ signature: String, _ body: (inout MessageWriter) -> Void) -> UInt32 {
        let serial = traffic.nextSerial()
        guard isOpen, !isEnding else { return serial }
        if outgoing.isEmpty {
            outgoing = traffic.writer()
            traffic.hasWritten(self)
        }
        outgoing.message(head, serial: serial, signature: signature, body)
        if !isReady && outgoing.count > Self.queuedBytesMax { endSoon(.tooMuchQueued) }
        return serial
    }

    /// - Parameter descriptors: the caller's; the peer gets duplicates.
    /// - Throws: where it takes none, or none is left for the duplicates. Nothing is written then.
    @discardableResult
    func write(
        _ head: MessageWriter.Head, _ signature: String, passing descriptors: [Int32],
        _ body: (inout MessageWriter) -> Void
    ) throws(SystemFault) -> UInt32 {
        if descriptors.isEmpty || !isOpen || isEnding { return write(head, signature, body) }
        guard passesDescriptors else { throw SystemFault("send a descriptor", EOPNOTSUPP) }
        var copies: [Int32] = []
        for descriptor in descriptors {
            let copy = camarb_duplicate(descriptor)
            guard copy >= 0 else {
                for copy in copies { Glibc.close(copy) }
                throw SystemFault("append to a message", copy)
            }
            copies.append(copy)
        }
        // They go along with the first of its own bytes.
        flush()
        let serial = traffic.nextSerial()
        var writer = MessageWriter()
        writer.message(head, serial: serial, signature: signature, descriptors: copies.count, body)
        transmit(writer.bytes, copies)
        return serial
    }

    package func flush() {
        // A server's peer that has not authenticated yet is told what was written once it has.
        guard !outgoing.isEmpty, isReady else { return }
        var written = MessageWriter()
        swap(&written, &outgoing)
        defer { traffic.giveBack(&written) }
        if isOpen { transmit(written.bytes) }
    }

    // MARK: The socket

    /// Bytes that wait, and the descriptors that go along with the first of them.
    struct Unsent {
        var bytes: ArraySlice<UInt8>
        var descriptors: [Int32]

        func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
    }

    /// Half of what may be queued is queued: callers that can leave something out do it now, while the peer can still be told.
    public var isBehind: Bool {
        unsent.count > Self.queuedMessagesMax / 2 || unsentBytes > Self.queuedBytesMax / 2
    }

    /// Sends bytes, or has them wait behind those that wait already.
    /// - Parameter descriptors: taken over.
    func transmit(_ bytes: ArraySlice<UInt8>, _ descriptors: [Int32] = []) {
        var message = Unsent(bytes: bytes, descriptors: descriptors)
        if unsent.isEmpty && descriptors.isEmpty {
            // The usual case, made short: a signal goes to a thousand peers.
            let sent = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if sent == bytes.count { return }
            message.bytes = message.bytes.dropFirst(max(0, sent))
        }
        if unsent.isEmpty && sendNow(&message) { return }
        let before = unsentBytes
        unsent.append(message)
        unsentBytes += message.bytes.count
        if isServer { traffic.unread.note(unsentBytes, of: self) }
        // The newest does not count: one long answer, such as a status with thousands of sessions, is no sign of a peer that
        // does not read.
        if before > Self.queuedBytesMax || unsent.count > Self.queuedMessagesMax { return endSoon(.tooMuchQueued) }
        refresh()
    }

    /// - Returns: the kernel took all of it; or the peer takes nothing any more, which ends the connection in its turn.
    private func sendNow(_ message: inout Unsent) -> Bool {
        while true {
            let sent = message.bytes.withUnsafeBytes {
                camarb_send(socket, $0.baseAddress, $0.count, message.descriptors, message.descriptors.count)
            }
            if sent == -Int(EAGAIN) { return false }
            message.close()
            if sent < 0 {
                let fault = SystemFault("send a message", Int32(sent))
                isDeaf = true
                if fault.saysThatThePeerIsGone { askForTurn() } else { endSoon(.fault(fault)) }
                return true
            }
            if sent == message.bytes.count { return true }
            message.bytes = message.bytes.dropFirst(sent)
            message.descriptors = []
        }
    }

    func sendUnsent() {
        var count = 0
        while count < unsent.count {
            let before = unsent[count].bytes.count
            let isSent = sendNow(&unsent[count])
            unsentBytes -= isSent ? before : before - unsent[count].bytes.count
            guard isSent else { break }
            count += 1
        }
        unsent.removeFirst(count)
        if unsent.isEmpty { unsent = [] }
        if isServer { traffic.unread.note(unsentBytes, of: self) }
    }
}

/// A signal that is written once, for any number of peers.
package final class SealedSignal {
    let bytes: ArraySlice<UInt8>
    let path, interface, member: String

    package init(
        on connection: BusConnection, path: String, interface: String, member: String, _ arguments: [WireValue]
    ) {
        (self.path, self.interface, self.member) = (path, interface, member)
        var writer = MessageWriter()
        writer.message(
            .signal(path: path, interface: interface, member: member, sender: connection.ownName),
            serial: connection.traffic.nextSerial(), signature: arguments.signature
        ) { $0.append(all: arguments) }
        bytes = writer.bytes
    }
}
