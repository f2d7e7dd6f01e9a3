import ArbiterProtocol
import Bus
import Glibc
import System

/// The bus that is not there. Libraries that expect one call it before anything else, so it is answered for, even
/// where the answer means little: there are two names, the broker's `:1.0` and the caller's own. Nobody gets another one: to a
/// program that asks for its own, to be the only one of its kind, no answer would be true.
extension Dispatcher {
    private static let busName = "org.freedesktop.DBus"
    private static let ownName = BusMessage.serverName
    private static let wellKnownName = "org.camarb"

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
        case "NameHasOwner":
            let name = try name(of: message)
            request.answer([
                .boolean([Self.busName, Self.ownName, Self.wellKnownName, client.uniqueName].contains(name))
            ])
        case "StartServiceByName": request.answer([.uint32(2)])  // It runs already.
        case "ListNames": request.answer([.strings([Self.busName, Self.ownName, client.uniqueName])])
        case "ListActivatableNames", "ListQueuedOwners": request.answer([.strings([])])
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
        guard rule.utf8.count <= ClientBound.textBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "\(message.member): the rule has \(rule.utf8.count) bytes; it may have \(ClientBound.textBytesMax).")
        }
        return rule
    }

    private func name(of message: BusMessage) throws(BrokerError) -> String {
        guard message.isSignature("s") else {
            throw Self.wrongArguments("\(Self.busName).\(message.member)", takes: "s", got: message.signature)
        }
        return try message.readString()
    }

    /// Whatever a client calls the broker is the broker.
    private func owner(of message: BusMessage, _ client: BrokerClient) throws(BrokerError) -> String {
        let name = try name(of: message)
        return name == client.uniqueName || name == Self.busName ? name : Self.ownName
    }

    /// A monitor waits to lose its name; then it shows what it is sent: of broad news, decisions, and properties that
    /// change what its rules say, which take the place of all that it has added.
    private func becomeMonitor(_ request: Request) throws(BrokerError) {
        let (message, client) = (request.message, request.client)
        guard message.isSignature("asu") else {
            throw Self.wrongArguments("\(message.interface).BecomeMonitor", takes: "asu", got: message.signature)
        }
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
        let signal = BusMessage.signal(
            on: client.connection, path: "/org/freedesktop/DBus", interface: Self.busName, member: "NameLost")
        signal?.append(client.uniqueName)
        signal?.send()
    }
}
