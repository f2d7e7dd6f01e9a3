import ArbiterProtocol
import Bus
import CLinux
import Glibc
import Loop
import Synchronization

/// A server's connection as camarbd has one for each client, and what comes of it.
final class Hearer: BusConnectionDelegate {
    struct Message: Hashable {
        var kind: BusMessage.Kind
        var path: String
        var interface: String
        var member: String
        var signature: String
        /// What was read, written anew; nil: it was refused.
        var body: [UInt8]?
        var refusal = ""
    }

    private(set) var isReady = false
    private(set) var messages: [Message] = []
    /// The arguments of each, where they were read.
    private(set) var arguments: [[WireValue]?] = []
    private(set) var end: BusConnection.End?

    func connectionReady(_ connection: BusConnection) { isReady = true }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        var heard = Message(
            kind: message.kind, path: message.path, interface: message.interface, member: message.member,
            signature: message.signature)
        do throws(BrokerError) {
            let values = try message.arguments(descriptorsInLists: true)
            var marshaller = Marshaller()
            for value in values {
                Self.check(value, depth: 0)
                marshaller.append(value)
                for number in value.fileDescriptors { close(number) }
            }
            heard.body = marshaller.bytes
            arguments.append(values)
        } catch {
            heard.refusal = error.message
            arguments.append(nil)
        }
        messages.append(heard)
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { self.end = end }

    /// What was taken is within its bounds.
    private static func check(_ value: WireValue, depth: Int) {
        precondition(depth <= BusMessage.nestingMax, "A value was taken \(depth) containers deep.")
        switch value {
        case .array(type: "h", let values):
            precondition(
                depth == 0 && values.count <= BusMessage.descriptorsMax,
                "A list of \(values.count) descriptors was taken, \(depth) containers deep.")
        case .array(_, let values), .structure(let values):
            precondition(values.count <= BusMessage.valuesMax, "An array of \(values.count) values was taken.")
            for value in values { check(value, depth: depth + 1) }
        case .dictionary(let dictionary):
            precondition(
                dictionary.entries.count <= BusMessage.keysMax,
                "A dictionary of \(dictionary.entries.count) keys was taken.")
            for entry in dictionary.entries { check(entry.value, depth: depth + 1) }
        case .fileDescriptor: precondition(depth == 0, "A descriptor was taken inside a container.")
        default: break
        }
    }

    /// What comes of pieces that a stranger sends, each after the loop has done what there was to do.
    /// - Parameter descriptorAt: the piece that brings one, if any.
    static func hear(_ pieces: [[UInt8]], descriptorAt place: Int? = nil) -> (hearer: Hearer, said: [UInt8]) {
        let hearer = Hearer()
        do throws(SystemFault) {
            let loop = try EventLoop()
            let (ours, its) = try UnixPair.make()
            let connection = try BusConnection(adopting: ours, as: .server, on: loop, delegate: hearer)
            let peer = Peer(its, loop)
            for (index, piece) in pieces.enumerated() {
                if index == place {
                    // It may be over already, and then nothing is sent.
                    _ = camarb_pass(its, piece, piece.count, [STDERR_FILENO], 1)
                    peer.listen()
                } else {
                    peer.send(piece)
                }
            }
            peer.listen()
            let said = peer.heard
            peer.close()
            Peer.settle(loop)
            precondition(!connection.isOpen, "A connection outlives its peer.")
            return (hearer, said)
        } catch {
            preconditionFailure("This target could not be set up: \(error)")
        }
    }

    /// Nothing else of this process opens descriptors.
    static let isAlone = Atomic<Bool>(false)

    /// The number that the next descriptor gets: it grows with each that is left open. In a process with others, such as
    /// other tests, it says nothing, and is always the same.
    static var nextDescriptor: Int32 {
        guard isAlone.load(ordering: .relaxed) else { return -1 }
        let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if number >= 0 { Glibc.close(number) }
        return number
    }
}
