import Arbiter
import ArbiterProtocol
import Bus
import System

enum StandardInterface {
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let properties = "org.freedesktop.DBus.Properties"
    static let peer = "org.freedesktop.DBus.Peer"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    static func names(of object: BusObject) -> [String] {
        switch object {
        case .root: [objectManager, introspectable, properties, peer]
        case .node: [introspectable, peer]
        case .broker, .shell, .camera, .session: [introspectable, properties, peer]
        }
    }

    static let introspectableXML = """
         <interface name="org.freedesktop.DBus.Introspectable">
          <method name="Introspect"><arg name="data" type="s" direction="out"/></method>
         </interface>
         <interface name="org.freedesktop.DBus.Peer">
          <method name="Ping"/>
          <method name="GetMachineId"><arg name="machine_uuid" type="s" direction="out"/></method>
         </interface>

        """

    static let propertiesXML = """
         <interface name="org.freedesktop.DBus.Properties">
          <method name="Get">
           <arg name="interface" type="s" direction="in"/><arg name="property" type="s" direction="in"/>
           <arg name="value" type="v" direction="out"/>
          </method>
          <method name="GetAll">
           <arg name="interface" type="s" direction="in"/><arg name="properties" type="a{sv}" direction="out"/>
           <annotation name="org.qtproject.QtDBus.QtTypeName.Out0" value="QVariantMap"/>
          </method>
          <method name="Set">
           <arg name="interface" type="s" direction="in"/><arg name="property" type="s" direction="in"/>
           <arg name="value" type="v" direction="in"/>
          </method>
          <signal name="PropertiesChanged">
           <arg name="interface" type="s"/><arg name="changed" type="a{sv}"/><arg name="invalidated" type="as"/>
           <annotation name="org.qtproject.QtDBus.QtTypeName.Out1" value="QVariantMap"/>
          </signal>
         </interface>

        """

    static let objectManagerXML = """
         <interface name="org.freedesktop.DBus.ObjectManager">
          <method name="GetManagedObjects"><arg name="objects" type="a{oa{sa{sv}}}" direction="out"/></method>
          <signal name="InterfacesAdded">
           <arg name="object" type="o"/><arg name="interfaces" type="a{sa{sv}}"/>
          </signal>
          <signal name="InterfacesRemoved"><arg name="object" type="o"/><arg name="interfaces" type="as"/></signal>
         </interface>

        """
}

extension Dispatcher {
    func standardMethod(_ request: Request, _ object: BusObject) throws(BrokerError) {
        let message = request.message
        let (interface, member) = (message.interface, message.member)
        guard StandardInterface.names(of: object).contains(interface) else {
            throw unknownInterface(message, object)
        }
        switch (interface, member) {
        case (StandardInterface.introspectable, "Introspect"):
            try take("", message)
            try cameras.whenKnown(request) { [self] in
                request.answer([.string(introspect(message.path, object, for: request.client))])
            }
        case (StandardInterface.peer, "Ping"): request.answer()
        case (StandardInterface.peer, "GetMachineId"):
            guard let id = LoginSessions.machineID else { throw BrokerError(.failed, "This machine has no id.") }
            request.answer([.string(id)])
        case (StandardInterface.objectManager, "GetManagedObjects"):
            try take("", message)
            try cameras.whenKnown(request) { [self] in answerManagedObjects(request) }
        default:
            throw BrokerError(.unknownMethod, "\(interface) has no method \(member.quotedShort).")
        }
    }

    private func take(_ signature: String, _ message: BusMessage) throws(BrokerError) {
        try message.require(signature, of: "\(message.interface).\(message.member)")
    }

    private func introspect(_ path: String, _ object: BusObject, for client: BrokerClient) -> String {
        var xml = Interface.introspectionHead
        for table in tables(of: object) { xml += table.interface.introspectionXML }
        let names = StandardInterface.names(of: object)
        xml += StandardInterface.introspectableXML
        if names.contains(StandardInterface.properties) { xml += StandardInterface.propertiesXML }
        if names.contains(StandardInterface.objectManager) { xml += StandardInterface.objectManagerXML }
        for child in children(of: path, for: client) { xml += " <node name=\"\(child)\"/>\n" }
        return xml + Interface.introspectionEnd
    }

    private func children(of path: String, for client: BrokerClient) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        let paths =
            [ObjectPath.broker, ObjectPath.cameras] + (client.isVisitor ? [] : [ObjectPath.shell, ObjectPath.sessions])
            + cameras.paths + client.sessions.map { ObjectPath.session($0) }
        var names: [String] = []
        for path in paths where path.hasPrefix(prefix) {
            let name = String(path.dropFirst(prefix.count).prefix { $0 != "/" })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private func answerManagedObjects(_ request: Request) {
        let client = request.client
        request.answerLater()
        guard request.message.expectsAnswer else { return }
        broker.properties.isRead(by: client)
        var objects: [(path: String, object: BusObject)] = [(ObjectPath.broker, .broker)]
        if !client.isVisitor { objects.append((ObjectPath.shell, .shell)) }
        objects += cameras.order.filter { $0.capabilities != nil }.map { (ObjectPath.camera($0.camera), .camera($0)) }
        objects += client.sessions.map { (ObjectPath.session($0), .session($0, of: client)) }
        request.message.answer("a{oa{sa{sv}}}") { writer in
            writer.container("a", "{oa{sa{sv}}}") { writer in
                for (path, object) in objects {
                    writer.container("e", "oa{sa{sv}}") { writer in
                        writer.append(path)
                        appendInterfaces(&writer, object, client)
                    }
                }
            }
        }
    }

    private func appendInterfaces(_ writer: inout MessageWriter, _ object: BusObject, _ client: BrokerClient) {
        writer.container("a", "{sa{sv}}") { writer in
            for table in tables(of: object) {
                writer.container("e", "sa{sv}") { writer in
                    writer.append(table.interface.name)
                    writer.append((try? properties(object, table.interface.name, for: client)) ?? [:])
                }
            }
        }
    }

    func cameraObjectAdded(_ link: CameraLink) {
        for client in clients.values
        where client.connection.isReady && !broker.audience.isSilent(client) {
            objectAdded(ObjectPath.camera(link.camera), .camera(link), client)
        }
        if let visitor = broker.audience.visitor { objectAdded(ObjectPath.camera(link.camera), .camera(link), visitor) }
    }

    func objectAdded(_ session: SessionID, _ client: BrokerClient) {
        broker.properties.begin(session, client)
        objectAdded(ObjectPath.session(session), .session(session, of: client), client)
    }

    private func objectAdded(_ path: String, _ object: BusObject, _ client: BrokerClient) {
        client.connection.signal(
            path: ObjectPath.root, interface: StandardInterface.objectManager, member: "InterfacesAdded", "oa{sa{sv}}"
        ) { writer in
            writer.append(path)
            appendInterfaces(&writer, object, client)
        }
    }

    func objectRemoved(_ session: SessionID, _ client: BrokerClient) {
        client.connection.signal(
            path: ObjectPath.root, interface: StandardInterface.objectManager, member: "InterfacesRemoved",
            [.objectPath(ObjectPath.session(session)), .strings([InterfaceName.session])])
    }
}

// MARK: org.freedesktop.DBus.Properties

/// A client that reads a property receives `PropertiesChanged` from then on (`PropertyNotifier`).
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
        let (wanted, name) = (try message.readString(), try message.readString())
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
        // Some libraries ask with "" for those of the object as a whole.
        var all = WireDictionary()
        for interface in wanted.isEmpty ? tables(of: object).map(\.interface.name) : [wanted] {
            for entry in try properties(object, interface, for: request.client).entries { all[entry.key] = entry.value }
        }
        request.answer([.dictionary(all)])
    }

    private func setProperty(_ request: Request, _ object: BusObject) throws(BrokerError) {
        try take("ssv", request.message)
        let (wanted, name) = (try request.message.readString(), try request.message.readString())
        guard try source(object, wanted, for: request.client)?.entry(name) != nil else {
            throw BrokerError(.unknownProperty, "\(wanted) has no property \(name.quotedShort).")
        }
        throw BrokerError(.propertyReadOnly, "\(wanted).\(name) can only be read; methods change things.")
    }

    private func properties(
        _ object: BusObject, _ interface: String, for client: BrokerClient
    ) throws(BrokerError) -> WireDictionary {
        try source(object, interface, for: client)?.wire ?? [:]
    }

    /// - Returns: `nil` where the object has no properties in the interface.
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
            return properties.properties(of: session)
        default:
            if StandardInterface.names(of: object).contains(interface) { return nil }
            throw BrokerError(
                .unknownInterface,
                "The object has no interface \(interface.quotedShort); it has \(tables(of: object).map(\.interface.name).joined(separator: ", "))."
            )
        }
    }
}
