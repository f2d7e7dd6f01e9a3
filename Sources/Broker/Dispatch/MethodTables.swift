import ArbiterProtocol

/// The methods of each interface, made once from the tables of `ArbiterProtocol`: what is introspected is what is
/// dispatched.
struct MethodTables {
    typealias Handler = @Sendable (Broker, Request, inout WireReader) throws(BrokerError) -> Void

    struct Entry {
        /// The signature of what it takes.
        var takes: String
        var run: Handler
    }

    struct Table {
        var interface: Interface
        var entries: [String: Entry]
    }

    let broker: Table
    let session: Table
    let shell: Table
    let camera: Table

    init() {
        broker = Self.table(.broker, Self.brokerMethods)
        session = Self.table(.session, Self.sessionMethods)
        shell = Self.table(.shell, Self.shellMethods.merging(Self.answerMethods) { $1 })
        camera = Self.table(.camera, [:])
    }

    private static func table(_ interface: Interface, _ handlers: [String: Handler]) -> Table {
        var entries: [String: Entry] = [:]
        for method in interface.methods {
            guard let run = handlers[method.name] else {
                preconditionFailure("\(interface.name).\(method.name) has no implementation.")
            }
            entries[method.name] = Entry(takes: method.signatureTaken, run: run)
        }
        return Table(interface: interface, entries: entries)
    }
}
