public import ArbiterProtocol

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
        public var app: String
        public var camera: String
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
                    session: SessionID(try fields.uint64("session")), app: try fields.string("app"),
                    camera: try fields.string("camera"), kind: try fields.string("kind"),
                    rule: try fields.string("rule"), after: .nanoseconds(try fields.int64("after")),
                    recording: fields.has("recording") ? try fields.uint64("recording") : nil,
                    words: try fields.string("words")))
        }
        return changes
    }
}
