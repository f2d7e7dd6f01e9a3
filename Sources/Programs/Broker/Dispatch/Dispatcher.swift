import ArbiterProtocol
import Bus
import Glibc

enum BusObject {
    /// `/org/camarb`, the object manager.
    case root
    case broker
    case shell
    case camera(CameraLink)
    case session(SessionID, of: BrokerClient)
    /// An object with nothing but children: `/`, `/org`, `/org/camarb/camera`, `/org/camarb/session`.
    case node

    var hasProperties: Bool { if case .node = self { false } else { true } }
}

/// Finds each call's object, interface and method, and checks its arguments. Every call is answered once.
final class Dispatcher: BrokerPart {
    func dispatch(_ request: Request) {
        do throws(BrokerError) { try route(request) } catch { request.answer(error) }
    }

    private func route(_ request: Request) throws(BrokerError) {
        let message = request.message
        // The commonest first: nothing is allocated until a method was found.
        if message.isPath("/org/camarb/Broker1") && message.isInterface("org.camarb.Broker1") {
            return try run(MethodTables.broker, request)
        }
        if message.isInterface("org.camarb.Session1"), let number = message.pathNumber(after: "/org/camarb/session/") {
            try checkOwner(of: object(of: SessionID(number), for: request.client), request)
            return try run(MethodTables.session, request)
        }
        // Meant for the bus that is not there; some libraries send it to other paths too.
        if message.isInterface("org.freedesktop.DBus") || message.isInterface("org.freedesktop.DBus.Monitoring") {
            return try busMethod(request)
        }
        let object = try object(of: message, for: request.client)
        if message.isInterface("org.freedesktop.DBus.Properties") && object.hasProperties {
            return try propertiesMethod(request, object)
        }
        let interface = message.interface
        if interface.hasPrefix("org.freedesktop.DBus.") { return try standardMethod(request, object) }
        // The specification allows a call without an interface: the first one that has such a method is meant.
        let table = tables(of: object).first { table in
            message.hasInterface ? table.interface.name == interface : table.entry(for: message) != nil
        }
        guard let table else {
            if message.hasInterface { throw unknownInterface(message, object) }
            throw BrokerError(
                .unknownMethod, "The object \(message.path) has no method \(message.member.quotedShort).")
        }
        try checkOwner(of: object, request)
        try run(table, request)
    }

    private func run(_ table: MethodTables.Table, _ request: Request) throws(BrokerError) {
        let message = request.message
        guard let entry = table.entry(for: message) else {
            let names = table.interface.methods.map(\.name).joined(separator: ", ")
            throw BrokerError(
                .unknownMethod,
                names.isEmpty
                    ? "\(table.interface.name) has no methods."
                    : "\(table.interface.name) has no method \(message.member.quotedShort); it has \(names).")
        }
        if !message.isSignature(entry.takes) {
            try message.require(entry.takes, of: "\(table.interface.name).\(entry.name)")
        }
        let arguments = entry.takes.isEmpty ? [] : try message.arguments(descriptorsInLists: entry.takes.holds("ah"))
        if let long = arguments.lazy.compactMap(\.textTooLong).first, !Self.takesLongTexts.contains(entry.name) {
            // Whoever got descriptors owns them.
            for descriptor in arguments.flatMap(\.fileDescriptors) { close(descriptor) }
            throw BrokerError(
                .limitExceeded,
                "\(entry.name): \(long.quotedShort) has \(long.utf8.count) bytes; a text may have \(ClientBound.textBytesMax)."
            )
        }
        var reader = WireReader(entry.name, arguments)
        try entry.run(broker, request, &reader)
        if !request.isAnswered { request.answer() }
    }

    /// Methods whose texts have bounds of their own: plans, policies, items of metadata.
    private static let takesLongTexts: Set<String> = ["Plan", "PlanPolicy", "LoadPolicy", "AppendMetadata"]

    func unknownInterface(_ message: BusMessage, _ object: BusObject) -> BrokerError {
        let names = tables(of: object).map(\.interface.name) + StandardInterface.names(of: object)
        return BrokerError(
            .unknownInterface,
            "The object \(message.path) has no interface \(message.interface.quotedShort); it has \(names.joined(separator: ", "))."
        )
    }

    func tables(of object: BusObject) -> [MethodTables.Table] {
        switch object {
        case .broker: [MethodTables.broker]
        case .shell: [MethodTables.shell]
        case .camera: [MethodTables.camera]
        case .session: [MethodTables.session]
        case .root, .node: []
        }
    }

    private func checkOwner(of object: BusObject, _ request: Request) throws(BrokerError) {
        if case .session(let session, let owner) = object, owner !== request.client { throw anothersSession(session) }
    }

    func anothersSession(_ session: SessionID) -> BrokerError {
        BrokerError(
            .accessDenied,
            "Session \(session.rawValue) belongs to another client; a session answers the connection that created it.")
    }

    private func object(of message: BusMessage, for client: BrokerClient) throws(BrokerError) -> BusObject {
        // The two commonest, without a text of the path.
        if message.isPath("/org/camarb/Broker1") { return .broker }
        if let number = message.pathNumber(after: "/org/camarb/session/") {
            return try object(of: SessionID(number), for: client)
        }
        return try object(at: message.path, for: client)
    }

    /// For another user's client, a session does not exist.
    private func object(of session: SessionID, for client: BrokerClient) throws(BrokerError) -> BusObject {
        guard let owner = clients.owner(of: session), owner.uid == client.uid || trust.isTrusted(client) else {
            throw BrokerError(
                .unknownSession, "There is no session \(session.rawValue). Create one with CreateSession.")
        }
        return .session(session, of: owner)
    }

    private func object(at path: String, for client: BrokerClient) throws(BrokerError) -> BusObject {
        switch path {
        case ObjectPath.broker: return .broker
        case ObjectPath.shell where !client.isVisitor: return .shell
        case ObjectPath.root: return .root
        case "/", "/org", "/org/freedesktop", "/org/freedesktop/DBus", ObjectPath.cameras, ObjectPath.sessions:
            return .node
        default: break
        }
        if let link = cameras.order.first(where: { $0.capabilities != nil && ObjectPath.camera($0.camera) == path }) {
            return .camera(link)
        }
        if let session = ObjectPath.sessionID(path) { return try object(of: session, for: client) }
        let known = [ObjectPath.root, ObjectPath.broker, ObjectPath.shell] + cameras.paths
        throw BrokerError(
            .unknownObject, "There is no object \(path.quotedShort); there are \(known.joined(separator: ", ")).")
    }
}

extension WireValue {
    /// The first text in it that is longer than a text may be.
    fileprivate var textTooLong: String? {
        switch self {
        case .string(let text), .objectPath(let text): text.utf8.count > ClientBound.textBytesMax ? text : nil
        case .array(_, let values), .structure(let values): values.lazy.compactMap(\.textTooLong).first
        case .dictionary(let dictionary):
            dictionary.entries.lazy.compactMap { entry in
                entry.key.utf8.count > ClientBound.textBytesMax ? entry.key : entry.value.textTooLong
            }.first
        default: nil
        }
    }
}
