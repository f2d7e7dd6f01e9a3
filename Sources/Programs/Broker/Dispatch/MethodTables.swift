import ArbiterProtocol
import Bus

/// The methods of each interface, made from the tables of `ArbiterProtocol`: introspection and dispatch read the same table.
enum MethodTables {
    typealias Handler = @Sendable (Broker, Request, inout WireReader) throws(BrokerError) -> Void

    struct Entry: Sendable {
        let name: String
        let takes: String
        let run: Handler
    }

    struct Table: Sendable {
        let interface: Interface
        let entries: [Entry]

        /// A dozen comparisons of a few bytes cost less than a text to look up.
        func entry(for message: BusMessage) -> Entry? { entries.first { message.isMember($0.name) } }
    }

    static let broker = table(.broker, brokerMethods)
    static let session = table(.session, sessionMethods)
    static let shell = table(.shell, shellMethods)
    static let camera = table(.camera, [:])

    /// A method that is one event of the session it is called on.
    static func deciding(_ event: @escaping @Sendable (SessionID) -> Event) -> Handler {
        { (broker, request, _) throws(BrokerError) in broker.decide(event(try request.session), request) }
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
