import Arbiter
import ArbiterProtocol
import Bus
import Machine

/// The interfaces that D-Bus itself has a name for.
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
          </method>
          <method name="Set">
           <arg name="interface" type="s" direction="in"/><arg name="property" type="s" direction="in"/>
           <arg name="value" type="v" direction="in"/>
          </method>
          <signal name="PropertiesChanged">
           <arg name="interface" type="s"/><arg name="changed" type="a{sv}"/><arg name="invalidated" type="as"/>
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
        let interface = message.interface
        let member = message.member
        guard StandardInterface.names(of: object).contains(interface) else {
            let names = tables(of: object).map(\.interface.name) + StandardInterface.names(of: object)
            throw BrokerError(
                .unknownInterface,
                "The object \(message.path) has no interface \(interface.quotedShort); it has \(names.joined(separator: ", "))."
            )
        }
        switch (interface, member) {
        case (StandardInterface.introspectable, "Introspect"):
            try take("", message)
            try cameras.whenKnown(request.client) { [self] in
                request.answer([.string(introspect(message.path, object, for: request.client))])
            }
            request.answerLater()
        case (StandardInterface.peer, "Ping"):
            request.answer()
        case (StandardInterface.peer, "GetMachineId"):
            guard let id = LoginSessions.machineID else { throw BrokerError(.failed, "This machine has no id.") }
            request.answer([.string(id)])
        case (StandardInterface.properties, "Get"):
            try take("ss", message)
            broker.properties.isRead(by: request.client)
            let wanted = try message.readString()
            let name = try message.readString()
            let all = try properties(object, wanted, for: request.client)
            guard let value = all[name] else {
                throw BrokerError(
                    .unknownProperty,
                    "\(wanted) has no property \(name.quotedShort); it has \(all.keys.joined(separator: ", ")).")
            }
            let answer = message.makeAnswer()
            answer?.container("v", value.signature) { answer?.append(value) }
            answer?.send()
            request.answerLater()
        case (StandardInterface.properties, "GetAll"):
            try take("s", message)
            broker.properties.isRead(by: request.client)
            let wanted = try message.readString()
            // Asked of an object as a whole by some libraries.
            if wanted.isEmpty {
                var all = WireDictionary()
                for table in tables(of: object) {
                    for entry in try properties(object, table.interface.name, for: request.client).entries {
                        all[entry.key] = entry.value
                    }
                }
                request.answer([.dictionary(all)])
            } else {
                request.answer([.dictionary(try properties(object, wanted, for: request.client))])
            }
        case (StandardInterface.properties, "Set"):
            try take("ssv", message)
            let wanted = try message.readString()
            let name = try message.readString()
            guard try properties(object, wanted, for: request.client)[name] != nil else {
                throw BrokerError(.unknownProperty, "\(wanted) has no property \(name.quotedShort).")
            }
            throw BrokerError(.propertyReadOnly, "\(wanted).\(name) can only be read; methods change things.")
        case (StandardInterface.objectManager, "GetManagedObjects"):
            try take("", message)
            try cameras.whenKnown(request.client) { [self] in answerManagedObjects(message, request.client) }
            request.answerLater()
        default:
            throw BrokerError(.unknownMethod, "\(interface) has no method \(member.quotedShort).")
        }
    }

    private func take(_ signature: String, _ message: BusMessage) throws(BrokerError) {
        let got = message.signature
        guard got == signature else {
            throw Self.wrongArguments("\(message.interface).\(message.member)", takes: signature, got: got)
        }
    }

    // MARK: Introspection

    private func introspect(_ path: String, _ object: BusObject, for client: BrokerClient) -> String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for table in tables(of: object) { xml += table.interface.introspectionXML }
        let names = StandardInterface.names(of: object)
        xml += StandardInterface.introspectableXML
        if names.contains(StandardInterface.properties) { xml += StandardInterface.propertiesXML }
        if names.contains(StandardInterface.objectManager) { xml += StandardInterface.objectManagerXML }
        for child in children(of: path, for: client) { xml += " <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }

    private func children(of path: String, for client: BrokerClient) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        let paths =
            [ObjectPath.broker, ObjectPath.shell, ObjectPath.cameras, ObjectPath.sessions] + cameras.paths
            + client.sessions.map { ObjectPath.session($0) }
        var names: [String] = []
        for path in paths where path.hasPrefix(prefix) {
            let name = String(path.dropFirst(prefix.count).prefix { $0 != "/" })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    // MARK: Properties

    func properties(
        _ object: BusObject, _ interface: String, for client: BrokerClient
    ) throws(BrokerError) -> WireDictionary {
        switch (object, interface) {
        case (.broker, InterfaceName.broker):
            var properties: WireDictionary = ["Version": .string(Release.version)]
            for entry in broker.properties.brokerFacts.properties(since: nil).entries {
                properties[entry.key] = entry.value
            }
            return properties
        case (.shell, InterfaceName.shell): return [:]
        case (.camera(let link), InterfaceName.camera): return properties(link, for: client)
        case (.session(let session, let owner), InterfaceName.session):
            guard owner === client else {
                throw BrokerError(
                    .accessDenied,
                    "Session \(session.rawValue) belongs to another client; a session answers the connection that created it."
                )
            }
            return broker.properties.facts(of: session)?.properties(since: nil) ?? [:]
        default:
            if StandardInterface.names(of: object).contains(interface) { return [:] }
            throw BrokerError(
                .unknownInterface,
                "The object has no interface \(interface.quotedShort); it has \(tables(of: object).map(\.interface.name).joined(separator: ", "))."
            )
        }
    }

    private func properties(_ link: CameraLink, for client: BrokerClient) -> WireDictionary {
        [
            "Id": .string(link.camera.name), "Name": .string(link.capabilities?.name ?? ""),
            "Position": .string((link.capabilities?.position ?? .external).rawValue),
            "Generation": .uint64(link.generation), "Present": .boolean(link.isPresent),
            "Holder": .string(broker.properties.holderWords(link.holder, link.outside, for: client)),
            "Formats": .dictionaries(link.capabilities?.formats.map(\.wire) ?? []),
            "Controls": .dictionaries(link.capabilities?.controls.map(\.wire) ?? []),
        ]
    }

    // MARK: The object manager

    private func answerManagedObjects(_ message: BusMessage, _ client: BrokerClient) {
        guard let answer = message.makeAnswer() else { return }
        broker.properties.isRead(by: client)
        answer.container("a", "{oa{sa{sv}}}") {
            func add(_ path: String, _ object: BusObject) {
                answer.container("e", "oa{sa{sv}}") {
                    answer.append(objectPath: path)
                    appendInterfaces(answer, object, client)
                }
            }
            add(ObjectPath.broker, .broker)
            add(ObjectPath.shell, .shell)
            for link in cameras.order where link.capabilities != nil {
                add(ObjectPath.camera(link.camera), .camera(link))
            }
            for session in client.sessions { add(ObjectPath.session(session), .session(session, of: client)) }
        }
        answer.send()
    }

    private func appendInterfaces(_ message: BusMessage, _ object: BusObject, _ client: BrokerClient) {
        message.container("a", "{sa{sv}}") {
            for table in tables(of: object) {
                message.container("e", "sa{sv}") {
                    message.append(table.interface.name)
                    message.append((try? properties(object, table.interface.name, for: client)) ?? [:])
                }
            }
        }
    }

    /// Cameras are everybody's.
    func cameraObjectAdded(_ link: CameraLink) {
        for client in clients.values
        where client.connection.isReady && !broker.audience.isSilent(client) {
            objectAdded(ObjectPath.camera(link.camera), .camera(link), client)
        }
    }

    /// A session is its owner's.
    func objectAdded(_ session: SessionID, _ client: BrokerClient) {
        broker.properties.beginNews(of: session, client)
        objectAdded(ObjectPath.session(session), .session(session, of: client), client)
    }

    private func objectAdded(_ path: String, _ object: BusObject, _ client: BrokerClient) {
        let signal = BusMessage.signal(
            on: client.connection, path: ObjectPath.root, interface: StandardInterface.objectManager,
            member: "InterfacesAdded")
        signal?.append(objectPath: path)
        if let signal { appendInterfaces(signal, object, client) }
        signal?.send()
    }

    func objectRemoved(_ session: SessionID, _ client: BrokerClient) {
        let signal = BusMessage.signal(
            on: client.connection, path: ObjectPath.root, interface: StandardInterface.objectManager,
            member: "InterfacesRemoved")
        signal?.append(objectPath: ObjectPath.session(session))
        signal?.append([InterfaceName.session])
        signal?.send()
    }
}
