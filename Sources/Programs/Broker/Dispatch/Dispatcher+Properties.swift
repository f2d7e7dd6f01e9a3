import ArbiterProtocol
import Bus

/// `org.freedesktop.DBus.Properties`. Whoever reads a property is told from then on when it changes (`PropertyTelling`).
extension Dispatcher {
    func propertiesMethod(_ request: Request, _ object: BusObject) throws(BrokerError) {
        let message = request.message
        if message.isMember("Get") { return try getProperty(request, object) }
        if message.isMember("GetAll") { return try getAllProperties(request, object) }
        if message.isMember("Set") { return try setProperty(request, object) }
        throw BrokerError(
            .unknownMethod, "\(StandardInterface.properties) has no method \(message.member.quotedShort).")
    }

    private func getProperty(_ request: Request, _ object: BusObject) throws(BrokerError) {
        let message = request.message
        try take("ss", message)
        broker.properties.isRead(by: request.client)
        let wanted = try message.readString()
        let name = try message.readString()
        let source = try source(object, wanted, for: request.client)
        guard let value = source?.entry(name) else {
            let names = source.map { type(of: $0).keys } ?? []
            throw BrokerError(
                .unknownProperty,
                "\(wanted) has no property \(name.quotedShort); it has \(names.joined(separator: ", ")).")
        }
        request.answerLater()
        message.answer(variant: value)
    }

    private func getAllProperties(_ request: Request, _ object: BusObject) throws(BrokerError) {
        try take("s", request.message)
        broker.properties.isRead(by: request.client)
        let wanted = try request.message.readString()
        guard wanted.isEmpty else {
            return request.answer([.dictionary(try properties(object, wanted, for: request.client))])
        }
        // Asked of an object as a whole by some libraries.
        var all = WireDictionary()
        for table in tables(of: object) {
            for entry in try properties(object, table.interface.name, for: request.client).entries {
                all[entry.key] = entry.value
            }
        }
        request.answer([.dictionary(all)])
    }

    private func setProperty(_ request: Request, _ object: BusObject) throws(BrokerError) {
        try take("ssv", request.message)
        let wanted = try request.message.readString()
        let name = try request.message.readString()
        guard try source(object, wanted, for: request.client)?.entry(name) != nil else {
            throw BrokerError(.unknownProperty, "\(wanted) has no property \(name.quotedShort).")
        }
        throw BrokerError(.propertyReadOnly, "\(wanted).\(name) can only be read; methods change things.")
    }

    func properties(
        _ object: BusObject, _ interface: String, for client: BrokerClient
    ) throws(BrokerError) -> WireDictionary {
        try source(object, interface, for: client)?.wire ?? [:]
    }

    /// An object's properties in one of its interfaces; nil: it has none there.
    private func source(
        _ object: BusObject, _ interface: String, for client: BrokerClient
    ) throws(BrokerError) -> (any Described)? {
        let properties = broker.properties!
        switch (object, interface) {
        case (.broker, InterfaceName.broker): return properties.brokerProperties
        case (.shell, InterfaceName.shell): return nil
        case (.camera(let link), InterfaceName.camera): return properties.properties(of: link, for: client)
        case (.session(let session, let owner), InterfaceName.session):
            guard owner === client else { throw anothersSession(session) }
            return properties.facts(of: session)
        default:
            if StandardInterface.names(of: object).contains(interface) { return nil }
            throw BrokerError(
                .unknownInterface,
                "The object has no interface \(interface.quotedShort); it has \(tables(of: object).map(\.interface.name).joined(separator: ", "))."
            )
        }
    }
}
