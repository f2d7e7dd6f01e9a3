public import ArbiterProtocol
import CCamarb

/// Why a decision was made.
public struct Explanation: Hashable, Sendable {
    public var summary: String
    /// One for each question that was asked, in order: the rule, the facts it read, what would have changed it.
    public var verdicts: [WireDictionary]

    /// Which decision it is: for callers that asked for the latest.
    public var decision: DecisionID? { verdicts.first?["decision"]?.uint64 }
}

/// The policy in force, as the broker hands it out.
public struct PolicyInForce: Hashable, Sendable {
    /// One policy file that reads back as the policy.
    public var text: String
    /// The files it was read from, in the order in which they count; none: it is built in.
    public var files: [String]
    /// Where its parts were written, in the order of the files.
    public var origins: [PolicyOrigin]
}

extension CameraClient {
    @discardableResult
    func broker(
        _ member: String, _ arguments: [WireValue] = [], isDeclaration: Bool = false
    ) async throws(BrokerError) -> [WireValue] {
        try await call(ObjectPath.broker, InterfaceName.broker, member, arguments, isDeclaration: isDeclaration)
    }

    private func ask(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> WireReader {
        WireReader(member, try await broker(member, arguments))
    }

    /// Says what the client is; before its first session.
    public func declare(_ declaration: ClientDeclaration) async throws(BrokerError) {
        _ = try await engine.ask { client in
            let attributes = camarb_configuration_new()
            defer { camarb_configuration_free(attributes) }
            attributes?.set(declaration.wire)
            return camarb_client_declare(client, attributes)
        }
    }

    /// From now on this connection is another process of the same user's, as if that one had connected itself; said before
    /// anything else, and for a user's agent alone.
    /// - Parameters:
    ///   - began: when it did, in nanoseconds since the machine's start.
    /// - Returns: its app.
    /// - Throws: `.notTrusted` where this client may not, `.invalidValue` where there is no such process (any more).
    public func standFor(process: Int32, began: UInt64) async throws(BrokerError) -> String {
        let arguments: [WireValue] = [.uint32(UInt32(bitPattern: process)), .uint64(began)]
        var reader = WireReader("StandFor", try await broker("StandFor", arguments, isDeclaration: true))
        return try reader.string("app")
    }

    /// Says where the client's app is, for policies that believe `self-declared`.
    public func declarePresence(_ presence: Presence, focused: Bool = false) async throws(BrokerError) {
        _ = try await engine.ask { camarb_client_declare_presence($0, presence.wireName, focused) }
    }

    /// Takes a weaker rank for all that the client holds.
    /// - Throws: `.priorityRaised` for a stronger one, `.invalidValue` for one the policy does not have.
    public func lowerPriority(to rank: String) async throws(BrokerError) {
        try await broker("LowerPriority", [.string(rank)], isDeclaration: true)
    }

    /// Takes a weaker value of an attribute for the client's whole app, for as long as the client is connected.
    /// - Throws: `.priorityRaised` for a stronger one, `.invalidValue` for what the policy does not declare.
    public func lower(_ attribute: String, to value: String) async throws(BrokerError) {
        try await broker("LowerAttribute", [.string(attribute), .string(value)], isDeclaration: true)
    }

    /// Each camera's holder, the sessions that wait, and why. Of very many sessions the later ones are asked for page
    /// by page: each as it was when its page was.
    public func status() async throws(BrokerError) -> BrokerStatus {
        var status = try BrokerStatus(answer: try await broker("GetStatus"))
        for _ in 0..<BrokerStatus.pagesMax where status.hasMoreSessions {
            let last = status.sessions.last?.session ?? SessionID(0)
            try status.append(page: try await broker("GetSessions", [.uint64(last.rawValue)]))
        }
        return status
    }

    /// Why a decision was made. 0 asks for the latest; the last 1,024 are kept.
    /// - Throws: `.unknownDecision`, also for one that is too old.
    public func explain(_ decision: DecisionID = 0) async throws(BrokerError) -> Explanation {
        var reader = try await ask("Explain", [.uint64(decision)])
        return Explanation(summary: try reader.string("summary"), verdicts: try reader.dictionaries("verdicts"))
    }

    /// How the sessions of an app that ask to run stand now, and why, whenever that was decided.
    /// - Parameter name: an app's, or a session's.
    /// - Throws: `.unknownSession` where none of that name asks for a camera.
    public func explain(app name: String) async throws(BrokerError) -> Explanation {
        var reader = try await ask("ExplainApp", [.string(name)])
        return Explanation(summary: try reader.string("summary"), verdicts: try reader.dictionaries("verdicts"))
    }

    /// Plans a scenario: the events that would follow, in the scenario language. Nothing changes.
    public func plan(_ scenario: String) async throws(BrokerError) -> String {
        var reader = try await ask("Plan", [.string(scenario)])
        return try reader.string("outcome")
    }

    /// The policy in force, and where it was written.
    public func policyInForce() async throws(BrokerError) -> PolicyInForce {
        var reader = try await ask("GetPolicy")
        let text = try reader.string("text")
        let files = try reader.strings("files")
        return PolicyInForce(text: text, files: files, origins: try reader.read("origins"))
    }

    /// Counts since camarbd's start, as OpenMetrics text: everybody's for a trusted client, else those of the caller's user.
    public func metrics() async throws(BrokerError) -> String {
        var reader = try await ask("GetMetrics")
        return try reader.string("text")
    }

    /// Asks for `.decided` among `brokerNotices`, or ends that.
    public func subscribeToDecisions(_ on: Bool = true) async throws(BrokerError) {
        try await broker("Watch", [.boolean(on)], isDeclaration: true)
    }

    /// Asks for `.traced` among `brokerNotices`: every step of the broker's core from here on.
    /// - Returns: a file with the trace's first line; the caller closes it.
    /// - Throws: `.accessDenied` for users other than root and the broker's own.
    public func trace() async throws(BrokerError) -> Int32 {
        var reader = try await ask("Trace")
        return try reader.fileDescriptor("header")
    }

    /// A camera and its formats.
    /// - Throws: `.unknownCamera`, or `.unknownObject` from the bus layer.
    public func camera(_ id: CameraID) async throws(BrokerError) -> CameraDescription {
        var reader = WireReader(
            "GetAll",
            try await call(
                ObjectPath.camera(id), "org.freedesktop.DBus.Properties", "GetAll", [.string(InterfaceName.camera)]))
        return try CameraDescription(try reader.dictionary("properties"))
    }
}

/// The effects that loading a policy would have on sessions.
public struct PlannedPolicy: Sendable {
    /// In the scenario language, with comments behind it.
    public var outcome: String
    /// The worst first; empty: nobody would notice.
    public var changes: [PlannedChange]
    /// `Policy.hash` of the policy.
    public var policyHash: String
    /// Stands for what the plan came to; for `load(policy:file:plan:)`.
    public var plan: String
}

extension CameraClient {
    /// Plans the load of this policy: its effects on sessions. Nothing changes.
    /// - Parameters:
    ///   - policy: one policy file's text, without includes.
    ///   - file: what problems call it.
    ///   - scenario: empty, or lines that happen behind the load; then there are no `changes`.
    /// - Throws: `.invalidValue` with the problems of the policy, each with its line and column.
    public func plan(policy: String, file: String, scenario: String = "") async throws(BrokerError) -> PlannedPolicy {
        var reader = try await ask("PlanPolicy", [.string(policy), .string(file), .string(scenario)])
        let outcome = try reader.string("outcome")
        let changes: [PlannedChange] = try reader.read("changes")
        return PlannedPolicy(
            outcome: outcome, changes: changes, policyHash: try reader.string("policyHash"),
            plan: try reader.string("plan"))
    }

    /// Puts a policy in force until the broker's own files are read again.
    /// - Parameter plan: what `plan(policy:file:scenario:)` gave; "" loads it whatever comes of it.
    /// - Returns: what comes of it, and the policy's hash.
    /// - Throws: `.planChanged` where the plan would be another one by now: then nothing has happened. `.notTrusted` for users
    ///   other than root and the broker's own.
    public func load(
        policy: String, file: String, plan: String
    ) async throws(BrokerError) -> (changes: [PlannedChange], policyHash: String) {
        var reader = try await ask("LoadPolicy", [.string(policy), .string(file), .string(plan)])
        let changes: [PlannedChange] = try reader.read("changes")
        return (changes, try reader.string("policyHash"))
    }

    /// Puts the policy of the broker's own files in force again.
    /// - Throws: `.invalidValue` where they have a mistake: the policy in force stays then.
    public func unloadPolicy() async throws(BrokerError) { try await broker("UnloadPolicy") }
}
