public import ArbiterProtocol

/// What a client says it is. Claims narrow what a policy gives and never widen it.
public struct ClientDeclaration: Hashable, Sendable {
    /// A name for people; the broker's own comes from the kernel.
    public var app: String?
    public var kind: ClientKind
    /// Whether the app can share the screen and keep the camera, where a policy allows that.
    public var multitasking: Bool?
    public var requiresFullScreen: Bool?

    public init(
        app: String? = nil, kind: ClientKind = .app, multitasking: Bool? = nil, requiresFullScreen: Bool? = nil
    ) {
        (self.app, self.kind, self.multitasking) = (app, kind, multitasking)
        self.requiresFullScreen = requiresFullScreen
    }

    var wire: WireDictionary {
        var wire: WireDictionary = ["kind": .string(kind.rawValue)]
        if let app { wire["app"] = .string(app) }
        if let multitasking { wire["multitasking"] = .boolean(multitasking) }
        if let requiresFullScreen { wire["requiresFullScreen"] = .boolean(requiresFullScreen) }
        return wire
    }
}

/// Why a decision fell as it did.
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
    public var origins: [Origin]

    public struct Origin: Hashable, Sendable {
        /// "", attribute, rule, contention or camera.
        public var table: String
        public var name, file: String
        /// From 1.
        public var line: UInt64
    }
}

/// A camera as `org.camarb.Camera1` shows it.
public struct CameraDescription: Hashable, Sendable {
    public var camera: CameraID
    public var name: String
    public var position: CameraPosition
    public var generation: UInt64
    public var isPresent: Bool
    public var holder: Interrupter?
    /// Pixels of its sensor; 0 until its recorder core has described it, and where the broker is older than this library.
    public var sensorWidth: Int
    public var sensorHeight: Int
    /// In the order in which the camera lists them; empty until its recorder core has described it.
    public var formats: [CameraFormat]
    /// Which of them a session has that asks for none: its place in the list.
    public var defaultFormatIndex: Int
    /// What can be set on it beside format, rate and zoom.
    public var controls: [CameraControl]
    /// What it finds in its pictures, for a recording's metadata kind `objects`.
    public var availableMetadataObjectTypes: [String]

    init(wire: WireDictionary) throws(BrokerError) {
        let fields = WireFields("Camera1", wire)
        camera = try fields.read("Id")
        name = try fields.read("Name")
        position = try fields.read("Position")
        generation = try fields.read("Generation")
        isPresent = try fields.read("Present")
        holder = try fields.read("Holder")
        sensorWidth = fields.has("SensorWidth") ? Int(try fields.read("SensorWidth", as: UInt32.self)) : 0
        sensorHeight = fields.has("SensorHeight") ? Int(try fields.read("SensorHeight", as: UInt32.self)) : 0
        var formats: [CameraFormat] = []
        for (index, wire) in try fields.read("Formats", as: [WireDictionary].self).enumerated() {
            formats.append(try CameraFormat(wire: wire, place: "Formats[\(index)]"))
        }
        self.formats = formats
        // A broker of 0.1 has no such property, and its default is the first.
        let index = fields.has("DefaultFormatIndex") ? try fields.read("DefaultFormatIndex", as: UInt64.self) : 0
        defaultFormatIndex = formats.indices.contains(Int(clamping: index)) ? Int(index) : 0
        let types = "AvailableMetadataObjectTypes"
        availableMetadataObjectTypes = fields.has(types) ? try fields.read(types) : []
        controls = []
        for (index, wire) in try fields.read("Controls", as: [WireDictionary].self).enumerated() {
            if let control = try CameraControl(wire: wire, place: "Controls[\(index)]") { controls.append(control) }
        }
    }
}

extension CameraClient {
    @discardableResult
    func broker(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> [WireValue] {
        try await call(ObjectPath.broker, InterfaceName.broker, member, arguments)
    }

    /// Says what the client is; before its first session.
    public func declare(_ declaration: ClientDeclaration) async throws(BrokerError) {
        try await broker("DeclareClient", [.dictionary(declaration.wire)])
    }

    /// From now on this connection is another process of the same user's, as if that one had connected itself; said before
    /// anything else, and for a user's agent alone.
    /// - Parameters:
    ///   - began: when it did, in nanoseconds since the machine's start.
    /// - Returns: its app.
    /// - Throws: `.notTrusted` where this client may not, `.invalidValue` where there is no such process (any more).
    public func standFor(process: Int32, began: UInt64) async throws(BrokerError) -> String {
        let answer = try await broker("StandFor", [.uint32(UInt32(bitPattern: process)), .uint64(began)])
        var reader = WireReader("StandFor", answer)
        return try reader.string("app")
    }

    /// Says where the client's app is, for policies that believe `self-declared`.
    public func declarePresence(_ presence: Presence, focused: Bool = false) async throws(BrokerError) {
        try await broker("DeclarePresence", [.string(presence.wireName), .boolean(focused)])
    }

    /// Takes a weaker rank for all that the client holds.
    /// - Throws: `.priorityRaised` for a stronger one, `.invalidValue` for one the policy does not have.
    public func lowerPriority(to rank: String) async throws(BrokerError) {
        try await broker("LowerPriority", [.string(rank)])
    }

    /// Takes a weaker value of an attribute for the client's whole app, for as long as the client is connected.
    /// - Throws: `.priorityRaised` for a stronger one, `.invalidValue` for what the policy does not declare.
    public func lower(_ attribute: String, to value: String) async throws(BrokerError) {
        try await broker("LowerAttribute", [.string(attribute), .string(value)])
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

    /// Why a decision fell as it did. 0 asks for the latest; the last 1,024 are kept.
    /// - Throws: `.unknownDecision`, also for one that is too old.
    public func explain(_ decision: DecisionID = 0) async throws(BrokerError) -> Explanation {
        var reader = WireReader("Explain", try await broker("Explain", [.uint64(decision)]))
        return Explanation(summary: try reader.string("summary"), verdicts: try reader.dictionaries("verdicts"))
    }

    /// How the sessions of an app that ask to run stand now, and why, whenever that was decided.
    /// - Parameter name: an app's, or a session's.
    /// - Throws: `.unknownSession` where none of that name asks for a camera.
    public func explain(app name: String) async throws(BrokerError) -> Explanation {
        var reader = WireReader("ExplainApp", try await broker("ExplainApp", [.string(name)]))
        return Explanation(summary: try reader.string("summary"), verdicts: try reader.dictionaries("verdicts"))
    }

    /// What would happen, in the scenario language. Nothing changes.
    public func plan(_ scenario: String) async throws(BrokerError) -> String {
        var reader = WireReader("Plan", try await broker("Plan", [.string(scenario)]))
        return try reader.string("outcome")
    }

    /// The policy in force, and where it was written.
    public func policyInForce() async throws(BrokerError) -> PolicyInForce {
        var reader = WireReader("GetPolicy", try await broker("GetPolicy"))
        let text = try reader.string("text")
        let files = try reader.strings("files")
        var origins: [PolicyInForce.Origin] = []
        for (index, wire) in try reader.dictionaries("origins").enumerated() {
            let fields = WireFields("origins[\(index)]", wire)
            origins.append(
                PolicyInForce.Origin(
                    table: try fields.read("table"), name: try fields.read("name"),
                    file: try fields.read("file"), line: try fields.read("line")))
        }
        return PolicyInForce(text: text, files: files, origins: origins)
    }

    /// Counts since camarbd's start, as OpenMetrics text: everybody's for a trusted client, else those of the caller's user.
    public func metrics() async throws(BrokerError) -> String {
        var reader = WireReader("GetMetrics", try await broker("GetMetrics"))
        return try reader.string("text")
    }

    /// Asks for `.decided` among `brokerNotices`, or ends that.
    public func subscribeToDecisions(_ on: Bool = true) async throws(BrokerError) {
        try await broker("Watch", [.boolean(on)])
    }

    /// Asks for `.traced` among `brokerNotices`: every step of the broker's core from here on.
    /// - Returns: a file with the trace's first line; the caller closes it.
    /// - Throws: `.accessDenied` for users other than root and the broker's own.
    public func trace() async throws(BrokerError) -> Int32 {
        var reader = WireReader("Trace", try await broker("Trace"))
        return try reader.fileDescriptor("header")
    }

    /// A camera and its formats.
    /// - Throws: `.unknownCamera`, or `.unknownObject` from the bus layer.
    public func camera(_ id: CameraID) async throws(BrokerError) -> CameraDescription {
        try CameraDescription(wire: try await properties(of: ObjectPath.camera(id), InterfaceName.camera))
    }

    /// All properties of an interface of an object.
    func properties(of path: String, _ interface: String) async throws(BrokerError) -> WireDictionary {
        var reader = WireReader(
            "GetAll", try await call(path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)]))
        return try reader.dictionary("properties")
    }
}

/// What would become of whom if a policy were loaded.
public struct PlannedPolicy: Sendable {
    /// In the scenario language, with comments behind it.
    public var outcome: String
    /// The worst first; empty: nobody would notice.
    public var changes: [Change]
    /// `Policy.hash` of the policy.
    public var policyHash: String
    /// Stands for what the plan came to; for `load(policy:file:plan:)`.
    public var plan: String

    /// What would become of one session.
    public struct Change: Sendable {
        public var session: SessionID
        public var app, camera: String
        /// `stopped`, `interrupted`, `restricted`, `refused`, `leased`, `told`; `admitted`, `widened`, `runs`.
        public var kind: String
        public var rule: String
        /// From the load on.
        public var after: Duration
        /// The recording that it ends.
        public var recording: UInt64?
        /// What happens, as the end of a sentence that begins with the app.
        public var words: String
    }
}

extension CameraClient {
    /// What would become of whom if this policy were loaded now. Nothing changes.
    /// - Parameters:
    ///   - policy: one policy file's text, without includes.
    ///   - file: what problems call it.
    ///   - scenario: empty, or lines that happen behind the load; then there are no `changes`.
    /// - Throws: `.invalidValue` with the problems of the policy, each with its line and column.
    public func plan(policy: String, file: String, scenario: String = "") async throws(BrokerError) -> PlannedPolicy {
        var reader = WireReader(
            "PlanPolicy", try await broker("PlanPolicy", [.string(policy), .string(file), .string(scenario)]))
        let outcome = try reader.string("outcome")
        let changes = try Self.changes(&reader)
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
    ) async throws(BrokerError) -> (changes: [PlannedPolicy.Change], policyHash: String) {
        var reader = WireReader(
            "LoadPolicy", try await broker("LoadPolicy", [.string(policy), .string(file), .string(plan)]))
        let changes = try Self.changes(&reader)
        return (changes, try reader.string("policyHash"))
    }

    /// Puts the policy of the broker's own files in force again.
    /// - Throws: `.invalidValue` where they have a mistake: the policy in force stays then.
    public func unloadPolicy() async throws(BrokerError) { try await broker("UnloadPolicy") }

    private static func changes(_ reader: inout WireReader) throws(BrokerError) -> [PlannedPolicy.Change] {
        var changes: [PlannedPolicy.Change] = []
        for (index, wire) in try reader.dictionaries("changes").enumerated() {
            let fields = WireFields("changes[\(index)]", wire)
            changes.append(
                PlannedPolicy.Change(
                    session: try fields.read("session"), app: try fields.read("app"),
                    camera: try fields.read("camera"), kind: try fields.read("kind"),
                    rule: try fields.read("rule"), after: try fields.read("after"),
                    recording: fields.has("recording") ? try fields.read("recording") : nil,
                    words: try fields.read("words")))
        }
        return changes
    }
}
