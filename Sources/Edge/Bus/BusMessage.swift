public import ArbiterProtocol
import CLinux
import Glibc
import System

/// A D-Bus message that arrived, in the bytes in which it came.
///
/// Belongs to its connection's thread. May be kept to be answered later.
public final class BusMessage {
    public enum Kind: UInt8, Sendable {
        case call = 1
        case answer, error, signal
    }

    /// A server's name in all that it sends: some D-Bus libraries drop signals without a sender, and others match signals
    /// by the sender of the answers.
    public static let serverName = ":1.0"

    /// The connection it arrived on.
    public let connection: BusConnection
    let head: MessageHead
    var reader: MessageReader
    /// A trusted peer's descriptors, or the envelopes of a stranger's.
    let descriptors: [Int32]
    /// The keepers' findings about a stranger's descriptors.
    let passed: [PassedDescriptor]

    /// - Parameter descriptors: a trusted peer's, taken over.
    init(_ head: MessageHead, _ descriptors: [Int32], _ passed: [PassedDescriptor], on connection: BusConnection) {
        (self.head, reader) = (head, head.reader)
        self.descriptors = passed.isEmpty ? descriptors : passed.map(\.envelope)
        self.passed = passed
        self.connection = connection
    }

    deinit { if passed.isEmpty { for descriptor in descriptors { close(descriptor) } } }

    public var kind: Kind { head.kind }

    /// Empty where the message has none.
    public var path: String { head.bytes.text(at: head.path) }
    public var interface: String { head.bytes.text(at: head.interface) }
    public var member: String { head.bytes.text(at: head.member) }
    /// On a message bus the bus's own word for the sender; from a peer no more than what the peer says.
    public var sender: String { head.bytes.text(at: head.sender) }
    /// The whole body's signature.
    public var signature: String { head.bytes.text(at: head.signature) }

    public var hasInterface: Bool { !head.interface.isEmpty }
    /// Comparisons that allocate nothing, for dispatch.
    public func isPath(_ text: StaticString) -> Bool { head.bytes.has(text, at: head.path) }
    public func isInterface(_ text: StaticString) -> Bool { head.bytes.has(text, at: head.interface) }
    public func isMember(_ text: StaticString) -> Bool { head.bytes.has(text, at: head.member) }
    public func isSignature(_ text: StaticString) -> Bool { head.bytes.has(text, at: head.signature) }
    package func isMember(_ text: String) -> Bool { head.bytes.has(text, at: head.member) }
    package func isSignature(_ text: String) -> Bool { head.bytes.has(text, at: head.signature) }

    /// The number at the end of the path behind a prefix, such as 7 in `/org/camarb/session/7`, written as numbers are.
    public func pathNumber(after prefix: StaticString) -> UInt64? {
        let count = prefix.utf8CodeUnitCount
        let path = head.path
        guard path.count > count, head.bytes.has(prefix, at: path.lowerBound..<path.lowerBound + count) else {
            return nil
        }
        // No sign, no leading zero: a session has one path.
        guard head.bytes[path.lowerBound + count] != UInt8(ascii: "0") else { return nil }
        var number: UInt64 = 0
        for place in path.lowerBound + count..<path.upperBound {
            let digit = UInt64(head.bytes[place]) &- UInt64(UInt8(ascii: "0"))
            let (product, over) = number.multipliedReportingOverflow(by: 10)
            guard digit <= 9, !over, product <= .max - digit else { return nil }
            number = product + digit
        }
        return number
    }

    /// False: the sender does not want an answer, not even an error.
    public var expectsAnswer: Bool { head.expectsAnswer }

    /// The error an answer carries; nil when it is no error.
    public var error: BrokerError? {
        guard kind == .error else { return nil }
        let name = head.bytes.text(at: head.errorName)
        var first = head.reader
        let message = (try? first.readText("s")) ?? ""
        if let kind = BrokerError.Kind(rawValue: name) { return BrokerError(kind, message) }
        return BrokerError(.failed, message.isEmpty ? name : "\(message) (\(name))")
    }

    // MARK: Answering

    /// Answers with these values. Descriptors among them stay the caller's.
    public func answer(_ values: [WireValue] = []) {
        do throws(SystemFault) {
            try answer(values.signature, passing: values.flatMap(\.fileDescriptors)) { $0.append(all: values) }
        } catch { answer(BrokerError(.outOfResources, "The answer could not be sent: \(error).")) }
    }

    /// Answers with a value of whatever type, as `Properties.Get` does.
    package func answer(variant value: WireValue) { answer("v") { $0.append(variant: value) } }

    /// Answers with what `body` appends.
    /// - Parameter signature: of all of it. It has no descriptor in it.
    public func answer(_ signature: String, _ body: (inout MessageWriter) -> Void) {
        try? answer(signature, passing: [], body)
    }

    private func answer(
        _ signature: String, passing descriptors: [Int32], _ body: (inout MessageWriter) -> Void
    ) throws(SystemFault) {
        guard expectsAnswer else { return }
        try connection.write(
            .answer(to: head.serial, destination: returnTo, sender: connection.ownName), signature,
            passing: descriptors, body)
    }

    /// Answers with an error.
    public func answer(_ error: BrokerError) {
        guard expectsAnswer else { return }
        let (name, own) = (error.kind.rawValue, connection.ownName)
        connection.write(.error(name: name, to: head.serial, destination: returnTo, sender: own), "s") {
            $0.append(error.message)
        }
    }

    /// Where the caller has a name, the answer goes to that.
    private var returnTo: String? { head.sender.isEmpty ? nil : sender }
}
