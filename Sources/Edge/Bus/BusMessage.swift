public import ArbiterProtocol
import CSystemd
import Glibc
package import System

/// A D-Bus message: one that arrived, or one that is being built.
///
/// Belongs to its connection's thread. A message that arrived may be kept to be answered later.
public final class BusMessage {
    public enum Kind: Sendable { case call, answer, error, signal }

    let pointer: OpaquePointer
    private let owner: BusConnection?
    /// The connection it arrived on or was made for. A signal may be sent on others too.
    public var connection: BusConnection {
        guard let owner else { preconditionFailure("a message of another library is neither sent nor answered") }
        return owner
    }
    /// The first fault met while building; such a message is not sent.
    var buildFault: SystemFault?
    package var fault: SystemFault? { buildFault }
    /// Bytes of the values appended, as far as the queue's bound needs to know.
    var payloadBytes = 0
    /// What keepers found behind its descriptors, where a stranger sent it.
    var passed: [PassedDescriptor] = []

    init(owning pointer: OpaquePointer, _ connection: BusConnection?) { (self.pointer, owner) = (pointer, connection) }

    /// A message of a connection that another library has, for its values alone.
    package convenience init(ofAnotherLibrary pointer: OpaquePointer) {
        self.init(owning: sd_bus_message_ref(pointer), nil)
    }

    convenience init(borrowing pointer: OpaquePointer, _ connection: BusConnection) {
        self.init(owning: sd_bus_message_ref(pointer), connection)
    }

    deinit { _ = sd_bus_message_unref(pointer) }

    public var kind: Kind {
        var type: UInt8 = 0
        _ = sd_bus_message_get_type(pointer, &type)
        return switch Int(type) {
        case SD_BUS_MESSAGE_METHOD_CALL: .call
        case SD_BUS_MESSAGE_METHOD_RETURN: .answer
        case SD_BUS_MESSAGE_METHOD_ERROR: .error
        default: .signal
        }
    }

    /// Empty where the message has none.
    public var path: String { string(sd_bus_message_get_path(pointer)) }
    public var interface: String { string(sd_bus_message_get_interface(pointer)) }
    public var member: String { string(sd_bus_message_get_member(pointer)) }
    public var destination: String { string(sd_bus_message_get_destination(pointer)) }
    /// On a message bus the bus's own word for the sender; from a peer no more than what the peer says.
    public var sender: String { string(sd_bus_message_get_sender(pointer)) }
    /// The whole body's signature.
    public var signature: String { string(sd_bus_message_get_signature(pointer, 1)) }

    public var hasInterface: Bool { sd_bus_message_get_interface(pointer) != nil }
    /// Comparisons that allocate nothing, for dispatch.
    public func isPath(_ text: StaticString) -> Bool { same(sd_bus_message_get_path(pointer), text) }
    public func isInterface(_ text: StaticString) -> Bool { same(sd_bus_message_get_interface(pointer), text) }
    public func isMember(_ text: StaticString) -> Bool { same(sd_bus_message_get_member(pointer), text) }
    public func isSignature(_ text: StaticString) -> Bool { same(sd_bus_message_get_signature(pointer, 1), text) }
    package func isMember(_ text: String) -> Bool { same(sd_bus_message_get_member(pointer), text) }
    package func isSignature(_ text: String) -> Bool { same(sd_bus_message_get_signature(pointer, 1), text) }

    /// The number at the end of the path behind a prefix, such as 7 in `/org/camarb/session/7`, written as numbers are.
    public func pathNumber(after prefix: StaticString) -> UInt64? {
        guard let path = sd_bus_message_get_path(pointer) else { return nil }
        return prefix.withUTF8Buffer { bytes in
            guard let start = bytes.baseAddress,
                strncmp(path, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), bytes.count) == 0
            else { return nil }
            var digits = path + bytes.count
            // No sign, no leading zero: a session has one path.
            guard (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(UInt8(bitPattern: digits[0])) else { return nil }
            var number: UInt64 = 0
            while digits[0] != 0 {
                let digit = UInt64(UInt8(bitPattern: digits[0])) &- UInt64(UInt8(ascii: "0"))
                let (product, over) = number.multipliedReportingOverflow(by: 10)
                guard digit <= 9, !over, product <= .max - digit else { return nil }
                number = product + digit
                digits += 1
            }
            return number
        }
    }

    /// False: the sender does not want an answer, not even an error.
    public var expectsAnswer: Bool { sd_bus_message_get_expect_reply(pointer) > 0 }

    /// The error an answer carries; nil when it is no error.
    public var error: BrokerError? {
        guard let found = sd_bus_message_get_error(pointer) else { return nil }
        let name = string(found.pointee.name)
        let message = string(found.pointee.message)
        if let kind = BrokerError.Kind(rawValue: name) { return BrokerError(kind, message) }
        return BrokerError(.failed, message.isEmpty ? name : "\(message) (\(name))")
    }

    private func string(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        return String(cString: text)
    }

    private func same(_ text: UnsafePointer<CChar>?, _ other: StaticString) -> Bool {
        guard let text else { return false }
        return other.withUTF8Buffer { Self.same(text, $0) }
    }

    private func same(_ text: UnsafePointer<CChar>?, _ other: String) -> Bool {
        guard let text else { return false }
        var other = other
        return other.withUTF8 { Self.same(text, $0) }
    }

    private static func same(_ text: UnsafePointer<CChar>, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = bytes.baseAddress else { return text[0] == 0 }
        return strncmp(text, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), bytes.count) == 0
            && text[bytes.count] == 0
    }
}

// MARK: - Making messages

extension BusMessage {
    /// What a server calls itself in all that it sends: some D-Bus libraries drop signals without a sender, and others
    /// learn from the answers whose signals are meant.
    public static let serverName = ":1.0"

    /// - Parameter sender: nil on a message bus, which names the sender itself.
    public static func signal(
        on connection: BusConnection, path: String, interface: String, member: String, sender: String? = serverName
    ) -> BusMessage? {
        var created: OpaquePointer?
        guard sd_bus_message_new_signal(connection.bus, &created, path, interface, member) >= 0, let created else {
            return nil
        }
        if let sender { _ = sd_bus_message_set_sender(created, sender) }
        return BusMessage(owning: created, connection)
    }

    /// A signal with its arguments, sealed: it can be sent on any number of connections.
    public static func sealedSignal(
        on connection: BusConnection, path: String, interface: String, member: String, _ arguments: [WireValue]
    ) -> BusMessage? {
        guard let message = signal(on: connection, path: path, interface: interface, member: member) else { return nil }
        for argument in arguments { message.append(argument) }
        return message.seal() ? message : nil
    }

    /// Nothing can be appended any more; the message can be sent on any number of connections. False when it could not be built.
    public func seal() -> Bool {
        if buildFault != nil { return false }
        // The cookie is the sender's own count on each connection; libsystemd adjusts it where it is sent.
        return sd_bus_message_seal(pointer, connection.nextSealCookie(), 0) >= 0
    }

    static func call(
        on connection: BusConnection, to destination: String?, path: String, interface: String, member: String
    ) throws(SystemFault) -> BusMessage {
        var created: OpaquePointer?
        try check(
            sd_bus_message_new_method_call(connection.bus, &created, destination, path, interface, member),
            "make a call of \(interface).\(member) at \(path)")
        guard let created else { throw SystemFault("make a call", ENOMEM) }
        return BusMessage(owning: created, connection)
    }
}

// MARK: - Answering

extension BusMessage {
    /// An answer to fill and `send`; nil when the caller wants none.
    public func makeAnswer() -> BusMessage? {
        guard expectsAnswer else { return nil }
        var created: OpaquePointer?
        guard sd_bus_message_new_method_return(pointer, &created) >= 0, let created else { return nil }
        return answer(owning: created)
    }

    /// Sends it on the connection it was made for. True when it went out or was queued.
    @discardableResult
    public func send() -> Bool { connection.send(self) }

    /// Answers with these values.
    public func answer(_ values: [WireValue] = []) {
        if connection.isDirect, !values.contains(where: \.hasDescriptor) {
            return write(values.count == 1 ? values[0].signature : values.map(\.signature).joined()) { writer in
                for value in values { writer.append(value) }
            }
        }
        guard let answer = makeAnswer() else { return }
        for value in values { answer.append(value) }
        answer.send()
        if let fault = answer.buildFault {
            self.answer(BrokerError(.outOfResources, "The answer could not be sent: \(fault)."))
        }
    }

    /// Answers with a value of whatever type, as `Properties.Get` does.
    package func answer(variant value: WireValue) {
        if connection.isDirect, !value.hasDescriptor { return write("v") { $0.append(variant: value) } }
        guard let answer = makeAnswer() else { return }
        answer.container("v", value.signature) { answer.append(value) }
        answer.send()
    }

    /// Answers with what `body` appends.
    /// - Parameter signature: of all of it. It has no descriptor in it.
    /// - Parameter values: the same, for libsystemd, where the answer cannot be written directly.
    package func answer(
        _ signature: String, or values: @autoclosure () -> [WireValue], _ body: (inout MessageWriter) -> Void
    ) {
        if connection.isDirect { write(signature, body) } else { answer(values()) }
    }

    /// Answers with what `body` appends, without a descriptor and, where the peer reads, without an allocation.
    private func write(_ signature: String, _ body: (inout MessageWriter) -> Void) {
        guard expectsAnswer else { return }
        precondition(connection.isDirect, "what cannot be written directly is answered with values")
        connection.write(.answer(to: serial, destination: returnTo), signature, body)
    }

    private var serial: UInt32 {
        var cookie: UInt64 = 0
        _ = sd_bus_message_get_cookie(pointer, &cookie)
        return UInt32(truncatingIfNeeded: cookie)
    }

    /// Where the caller has a name, the answer goes to that.
    private var returnTo: String? { sd_bus_message_get_sender(pointer).map { String(cString: $0) } }

    /// Answers with an error.
    public func answer(_ error: BrokerError) {
        guard expectsAnswer else { return }
        if connection.isDirect {
            return connection.write(.error(name: error.kind.rawValue, to: serial, destination: returnTo), "s") {
                $0.append(error.message)
            }
        }
        var created: OpaquePointer?
        let result = error.kind.rawValue.withCString { name in
            error.message.withCString { sentence in
                var pair = sd_bus_error(name: name, message: sentence, _need_free: 0)
                return sd_bus_message_new_method_error(pointer, &created, &pair)
            }
        }
        guard result >= 0, let created else { return }
        let answer = answer(owning: created)
        answer.payloadBytes = error.message.utf8.count
        answer.send()
    }

    private func answer(owning created: OpaquePointer) -> BusMessage {
        if connection.isServer { _ = sd_bus_message_set_sender(created, Self.serverName) }
        return BusMessage(owning: created, connection)
    }
}
