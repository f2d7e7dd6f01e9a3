import ArbiterProtocol
import Bus

/// The methods of each interface, made once from the tables of `ArbiterProtocol`: what is introspected is what is
/// dispatched.
struct MethodTables {
    typealias Handler = @Sendable (Broker, Request, inout WireReader) throws(BrokerError) -> Void

    struct Entry {
        var name: String
        /// The signature of what it takes.
        var takes: String
        var run: Handler
    }

    struct Table {
        var interface: Interface
        /// In the interface's order.
        var entries: [Entry]

        /// The method that the message calls. A dozen comparisons of a few bytes cost less than a text to look up.
        func entry(for message: BusMessage) -> Entry? { entries.first { message.isMember($0.name) } }
    }

    let broker: Table
    let session: Table
    let shell: Table
    let camera: Table

    init() {
        broker = Self.table(.broker, Self.brokerMethods)
        session = Self.table(.session, Self.sessionMethods.merging(Self.recordingMethods) { $1 })
        shell = Self.table(.shell, Self.shellMethods.merging(Self.answerMethods) { $1 })
        camera = Self.table(.camera, [:])
    }

    private static func table(_ interface: Interface, _ handlers: [String: Handler]) -> Table {
        let entries = interface.methods.map { method in
            guard let run = handlers[method.name] else {
                preconditionFailure("\(interface.name).\(method.name) has no implementation.")
            }
            return Entry(name: method.name, takes: method.signatureTaken, run: run)
        }
        return Table(interface: interface, entries: entries)
    }
}
