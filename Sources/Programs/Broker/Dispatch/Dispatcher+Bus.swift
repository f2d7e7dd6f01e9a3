import ArbiterProtocol
import Bus
import Glibc
import System

/// The bus that is not there. Libraries that expect one call it before anything else. It has the broker's two names, the bus's and
/// the caller's own, and gives no other: who has a name here would learn nothing from that.
extension Dispatcher {
    private static let busName = "org.freedesktop.DBus"
    private static let ownName = BusMessage.serverName
    private static let wellKnownName = SystemName.name

    func busMethod(_ request: Request) throws(BrokerError) {
        let message = request.message
        let client = request.client
        let member = message.member
        switch member {
        case "Hello": request.answer([.string(client.uniqueName)])
        case "AddMatch":
            let rule = try self.rule(message)
            broker.properties.addMatch(rule, client)
            // From here on only what it wants; and everything again where its rules are too many to look through.
            var rules = client.connection.wanted ?? SignalRules()
            if !client.hasManyRules {
                client.hasManyRules = !rules.add(rule)
                client.connection.wanted = client.hasManyRules || rules.isEmpty ? nil : rules
            }
            request.answer()
        case "RemoveMatch":
            let rule = try self.rule(message)
            client.connection.wanted?.remove(rule)
            request.answer()
        case "GetNameOwner": request.answer([.string(try owner(of: message, client))])
        case "NameHasOwner": request.answer([.boolean(owner(of: try name(of: message), client) != nil)])
        case "StartServiceByName":
            try message.require("su", of: "\(Self.busName).\(member)")
            _ = try requireOwner(of: try message.readString(), client)
            request.answer([.uint32(2)])  // It runs already.
        case "ListNames":
            request.answer([.strings([Self.busName, Self.ownName, Self.wellKnownName, client.uniqueName])])
        case "ListActivatableNames": request.answer([.strings([])])
        case "ListQueuedOwners": request.answer([.strings([try owner(of: message, client)])])
        case "RequestName":
            throw BrokerError(
                .accessDenied,
                "This is a connection to camarbd alone, and no bus on which a name could be had; ask a message bus for one."
            )
        case "ReleaseName": request.answer([.uint32(owner(of: try name(of: message), client) == nil ? 2 : 3)])
        case "GetId": request.answer([.string(LoginSessions.machineID ?? String(repeating: "0", count: 32))])
        case "GetConnectionUnixUser", "GetConnectionUnixProcessID", "GetConnectionCredentials":
            let isCaller = try owner(of: message, client) == client.uniqueName
            let user = WireValue.uint32(isCaller ? client.uid : trust.ownUser)
            let process = WireValue.uint32(UInt32(clamping: isCaller ? client.pid : getpid()))
            switch member {
            case "GetConnectionUnixUser": request.answer([user])
            case "GetConnectionUnixProcessID": request.answer([process])
            default: request.answer([.dictionary(["UnixUserID": user, "ProcessID": process])])
            }
        case "BecomeMonitor": try becomeMonitor(request)
        default:
            throw BrokerError(
                .unknownMethod,
                "There is no bus here, and its \(member.quotedShort) is not among what is answered for it.")
        }
    }

    private func rule(_ message: BusMessage) throws(BrokerError) -> String {
        let rule = try name(of: message)
        try rule.require(bytesMax: ClientBound.textBytesMax, "\(message.member): the rule")
        return rule
    }

    private func name(of message: BusMessage) throws(BrokerError) -> String {
        try message.require("s", of: "\(Self.busName).\(message.member)")
        return try message.readString()
    }

    private func owner(of message: BusMessage, _ client: BrokerClient) throws(BrokerError) -> String {
        try requireOwner(of: try name(of: message), client)
    }

    private func requireOwner(of name: String, _ client: BrokerClient) throws(BrokerError) -> String {
        guard let owner = owner(of: name, client) else {
            throw BrokerError(
                .nameHasNoOwner,
                "Nobody here is called \(name.quotedShort); \(Self.wellKnownName), \(Self.busName) and your own "
                    + "\(client.uniqueName) are there.")
        }
        return owner
    }

    private func owner(of name: String, _ client: BrokerClient) -> String? {
        switch name {
        case client.uniqueName, Self.busName: name
        case Self.wellKnownName, Self.ownName: Self.ownName
        default: nil
        }
    }

    /// A monitor waits to lose its name; then it shows what it receives: broad news, decisions, and properties that change,
    /// as far as its rules match. They replace all rules that it has added.
    private func becomeMonitor(_ request: Request) throws(BrokerError) {
        let (message, client) = (request.message, request.client)
        try message.require("asu", of: "\(message.interface).BecomeMonitor")
        let texts = try message.readStrings(most: BusMessage.valuesMax)
        request.answer()
        let rules = SignalRules(all: texts)
        client.connection.wanted = rules
        client.hasManyRules = rules == nil && !texts.isEmpty
        // Nobody writes decisions, and nobody looks for properties, for a monitor that would not be sent them.
        let wantsDecisions = rules?.want(path: ObjectPath.broker, interface: InterfaceName.broker, member: "Decided")
        if wantsDecisions != false { broker.publisher.subscribe(client, true) }
        if rules == nil { broker.properties.isRead(by: client) }
        for text in texts { broker.properties.addMatch(text, client) }
        client.connection.signal(
            path: "/org/freedesktop/DBus", interface: Self.busName, member: "NameLost", [.string(client.uniqueName)])
    }
}

extension BusMessage {
    func require(_ signature: String, of method: String) throws(BrokerError) {
        guard !isSignature(signature) else { return }
        let got = self.signature
        throw BrokerError(
            .invalidArguments,
            "\(method) takes \(signature.isEmpty ? "no arguments" : "“\(signature)”"), and got "
                + (got.isEmpty ? "none." : "“\(got)”."))
    }
}
