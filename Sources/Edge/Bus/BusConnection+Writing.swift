package import ArbiterProtocol
import Glibc

/// Writing to strangers without libsystemd: what one turn says to a peer leaves in one piece.
extension BusConnection {
    /// Whether messages may be written directly: to a stranger that reads, and nothing of libsystemd's waits before them.
    var isDirect: Bool { intake != nil && isReady && isOpen && !isEnding && queued.isEmpty && held.isEmpty }

    /// Writes a signal. It leaves at the end of the turn, together with all else that is written to this peer in it;
    /// outside a turn, right after the present handler.
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

    package func send(_ message: SealedSignal) {
        guard wants(path: message.path, interface: message.interface, member: message.member) else { return }
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

    /// What the bus says, which is not there, is for whoever called it.
    func wants(path: String, interface: String, member: String) -> Bool {
        guard let wanted, interface != "org.freedesktop.DBus" else { return true }
        return wanted.want(path: path, interface: interface, member: member)
    }

    private func beginWriting() {
        guard outgoing.bytes.isEmpty else { return }
        outgoing = traffic.writer()
        traffic.hasWritten(self)
    }

    package func flush() {
        guard !outgoing.bytes.isEmpty else { return }
        var written = MessageWriter()
        swap(&written, &outgoing)
        defer { traffic.giveBack(&written) }
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
        let before = waitingBytes
        stuck.append(contentsOf: bytes[place...])
        lookAtStuck(before)
    }

    /// What was written and has not left, and what is held behind it.
    var waitingBytes: Int { stuck.count + held.reduce(0) { $0 + $1.payloadBytes } }

    /// - Parameter before: bytes that waited already. The newest do not count: one long answer, such as a status with
    ///   thousands of sessions, is no sign of a peer that does not read.
    func lookAtStuck(_ before: Int) {
        if isServer { traffic.unread.note(unreadBytes, of: self) }
        if before > Self.queuedBytesMax || held.count > Self.queuedMessagesMax { return endSoon(.tooMuchQueued) }
        refresh()
    }

    func sendStuck() {
        let sent = stuck.withUnsafeBytes { sendNow($0) }
        stuck.removeFirst(sent)
        defer { if isServer { traffic.unread.note(unreadBytes, of: self) } }
        guard stuck.isEmpty else { return }
        stuck = []
        let waiting = held
        held = []
        for message in waiting { send(message) }
    }
}

/// A signal that is written once, for any number of peers.
package final class SealedSignal {
    let bytes: [UInt8]
    let path: String
    let interface: String
    let member: String
    private let arguments: [WireValue]
    /// For peers that libsystemd sends to; made for the first of them.
    private var message: BusMessage?

    package init(
        on connection: BusConnection, path: String, interface: String, member: String, _ arguments: [WireValue]
    ) {
        (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
        var writer = MessageWriter()
        writer.message(
            .signal(path: path, interface: interface, member: member), serial: connection.traffic.nextSerial(),
            signature: arguments.map(\.signature).joined()
        ) { writer in for argument in arguments { writer.append(argument) } }
        bytes = writer.bytes
    }

    func send(on connection: BusConnection) {
        if message == nil {
            message = BusMessage.sealedSignal(
                on: connection, path: path, interface: interface, member: member, arguments)
        }
        if let message { connection.send(message) }
    }
}
