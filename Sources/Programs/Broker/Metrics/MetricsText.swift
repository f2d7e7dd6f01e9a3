public import ArbiterProtocol
public import Vocabulary

/// What the broker itself adds to what happened: the present, read when it is asked for.
public struct Gauges: Sendable {
    /// camarbd's version.
    public var version: String
    /// The policy in force.
    public var policy: String
    /// Its hash.
    public var policyHash: String
    public var clients: Int
    public var sessions: Int
    public var runningSessions: Int
    public var decisions: UInt64
    /// As rules read it.
    public var pressure: SystemPressure
    /// In bytes.
    public var residentMemory: UInt64
    public var openDescriptors: Int
    /// Connections that were ended or refused by the broker, by why.
    public var disconnects: Tally
    /// Budgets in all: how much is used, and of how much.
    public var budgets: [Budget]

    public struct Budget: Sendable {
        public var name: String
        public var used: UInt64
        public var most: UInt64
    }
}

extension BrokerMetrics {
    /// Everything, for root.
    public func text(_ gauges: Gauges) -> String {
        var metrics = OpenMetrics()
        metrics.family("camarb", .info, "camarbd's version, and the policy in force.")
        metrics.sample(
            "camarb_info", 1 as UInt64,
            [("version", gauges.version), ("policy", gauges.policy), ("policy_hash", gauges.policyHash)])
        Self.add(total, to: &metrics)
        metrics.counter(
            "camarb_recorder_resets", by: "camera", recorderResets,
            "Recorder cores that ended while they were needed: crashed, or killed because they did not do their duty.")
        metrics.counter(
            "camarb_camera_faults", by: "camera", cameraFaults, "Times that a camera could not be opened, or failed.")
        metrics.counter(
            "camarb_disconnects", by: "why", gauges.disconnects, "Connections that the broker ended or refused.")
        metrics.family("camarb_decisions", .counter, "Decisions of the core.")
        metrics.sample("camarb_decisions_total", gauges.decisions)
        for (name, value, help) in [
            ("camarb_clients", gauges.clients, "Connections."), ("camarb_sessions", gauges.sessions, "Sessions."),
            ("camarb_running_sessions", gauges.runningSessions, "Sessions that run."),
            (
                "camarb_pressure", Int(gauges.pressure.rawValue),
                "How hard the machine is pressed: 0 nominal, 1 fair, 2 serious, 3 critical."
            ),
            ("camarb_process_open_fds", gauges.openDescriptors, "Open descriptors of camarbd."),
        ] {
            metrics.family(name, .gauge, help)
            metrics.sample(name, UInt64(clamping: value))
        }
        metrics.family("camarb_process_resident_memory_bytes", .gauge, unit: "bytes", "Memory of camarbd.")
        metrics.sample("camarb_process_resident_memory_bytes", gauges.residentMemory)
        metrics.family("camarb_budget_used", .gauge, "What is used of each budget that all users share.")
        for budget in gauges.budgets { metrics.sample("camarb_budget_used", budget.used, [("budget", budget.name)]) }
        metrics.family("camarb_budget_limit", .gauge, "The most that may be used of it.")
        for budget in gauges.budgets { metrics.sample("camarb_budget_limit", budget.most, [("budget", budget.name)]) }
        return metrics.text
    }

    /// One user's own counts, for everybody else.
    public func text(of user: UInt32) -> String {
        var metrics = OpenMetrics()
        Self.add(counts(of: user), to: &metrics)
        return metrics.text
    }

    private static func add(_ counts: Counts, to metrics: inout OpenMetrics) {
        metrics.counter("camarb_grants", by: "camera", counts.grants, "Sessions that began to run.")
        metrics.counter(
            "camarb_interruptions", by: "cause", counts.interruptions,
            "Interruptions, by the cause that was told as the reason.")
        metrics.counter("camarb_session_stops", by: "reason", counts.stops, "Sessions that were stopped for good.")
        metrics.counter("camarb_refusals", by: "rule", counts.refusals, "Requests that a rule refused.")
        metrics.counter(
            "camarb_recordings", by: "why", counts.recordings, always: RecordingEnd.allCases.map(\.rawValue),
            "Recordings that ended.")
        metrics.counter("camarb_photos", by: "result", counts.photos, "Photos, taken and failed.")
        metrics.histogram("camarb_wait_seconds", counts.waits, "From a start request to the first frame.")
        metrics.histogram(
            "camarb_interruption_seconds", counts.interruptionLengths,
            "Interruptions, from their beginning to their end.")
        metrics.histogram(
            "camarb_handover_seconds", counts.handovers,
            "From the order to cut a camera's holder to the first frame of the next.")
    }
}
