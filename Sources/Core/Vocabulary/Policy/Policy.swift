/// Who may have a camera, as a value: the contents of a policy file, and nothing else.
///
/// It answers four questions, in this order. **May it use the camera at all?** `rights` decides. **May this session run
/// now?** For each cause the first matching cause rule decides on the access it leaves. **How strong is its bid?** The
/// first matching rank rule decides. **Who wins when bids meet?** `contention` decides, by one named choice for each
/// question. There is no unwritten rule.
public struct Policy: Hashable, Sendable {
    public var name: String
    public var summary: String
    /// The trusted sources of presence, the most trusted first. Empty: every client counts as foreground.
    public var sources: [PresenceSource]
    /// The unit that is the user's shell, or the user's agent; `nil`: the first client with that claim. The core does
    /// not decide which client that is.
    public var shellUnit: String?
    public var agentUnit: String?
    /// Facts of an app for rules and the order list, beyond the built-in ones.
    public var attributes: [Attribute]
    /// Values of the whole machine, in the order in which their calendars are read.
    public var modes: [Mode]
    public var causeRules: [CauseRule]
    /// Who may use cameras at all.
    public var rights: Rights
    /// Rank names, strongest first. Never empty.
    public var ranks: [String]
    public var rankRules: [RankRule]
    public var contention: Contention
    public var cameras: [CameraRule]
    /// A lower pressure counts only after it has lasted this long, so that cameras do not flicker on and off at a
    /// threshold.
    public var pressureSettle: Duration
    /// The thresholds of the machine's own figures. The core does not read them.
    public var pressure: PressureSettings
    /// The policy's promises about itself; for `camclient policy verify`, never for a decision.
    public var statements: [Statement]

    /// A policy with one rank for everyone and no rule; all else is set afterwards.
    public init(name: String) { self.init(name: name, summary: "") }

    package init(
        name: String, summary: String = "", sources: [PresenceSource] = [], shellUnit: String? = nil,
        agentUnit: String? = nil, rights: Rights = Rights(), attributes: [Attribute] = [], modes: [Mode] = [],
        causeRules: [CauseRule] = [], ranks: [String] = ["everyone"], rankRules: [RankRule] = [],
        contention: Contention = Contention(), cameras: [CameraRule] = [], pressureSettle: Duration = .seconds(5),
        pressure: PressureSettings = .usual, statements: [Statement] = []
    ) {
        precondition(!ranks.isEmpty, "a policy needs at least one rank")
        (self.name, self.summary, self.sources) = (name, summary, sources)
        (self.shellUnit, self.agentUnit, self.rights) = (shellUnit, agentUnit, rights)
        (self.attributes, self.modes, self.causeRules) = (attributes, modes, causeRules)
        (self.ranks, self.rankRules, self.contention) = (ranks, rankRules, contention)
        (self.cameras, self.pressureSettle, self.pressure) = (cameras, pressureSettle, pressure)
        self.statements = statements
    }

    /// Whether any rule reads the machine's pressure: else it is not measured.
    public var readsPressure: Bool {
        (causeRules.map(\.when) + rankRules.map(\.when)).joined().contains { test in
            if case .pressure = test { true } else { false }
        }
    }
}

/// "May this session run now?"
public struct CauseRule: Hashable, Sendable {
    public var name: String
    public var when: [FactTest]
    public var cause: Cause
    /// The access that the cause leaves while the rule matches.
    public var access: Access
    /// For the person in front of the app, beside the cause; empty: none.
    public var message: String

    public init(name: String, when: [FactTest], cause: Cause, access: Access = .none, message: String = "") {
        (self.name, self.when, self.cause, self.access, self.message) = (name, when, cause, access, message)
    }

    /// The causes a policy may raise. The others are facts of the machine and hold under every policy.
    public static let causes: [Cause] = [
        .videoDeviceNotAvailableInBackground, .audioDeviceInUseByAnotherClient,
        .videoDeviceNotAvailableWithMultipleForegroundApps, .videoDeviceNotAvailableDueToSystemPressure,
    ]
}

/// "How strong is its bid?"
public struct RankRule: Hashable, Sendable {
    public var name: String
    public var when: [FactTest]
    /// Index into `Policy.ranks`; 0 is the strongest.
    public var rank: Int
    /// No grace, no min-hold, no lease stands in its way.
    public var isImmediate: Bool
    /// The time of a holder of this rank to finish after its warning. Zero: cut at once.
    public var grace: Duration
    /// The time for which a holder of this rank keeps the camera against stronger bids. Zero: not at all.
    public var minHold: Duration
    /// The longest time with the camera; `nil`: as long as it wins.
    public var lease: Duration?
    /// The time after the end of its lease in which its app is refused that camera, also where nobody waits. Zero: it
    /// may start again at once.
    public var pause = Duration.zero
    /// A matching session may not have a camera at all: its start is refused, and a reload stops it if it runs.
    public var deny: Bool
    /// Without a lease there is no pause after it.
    package var pauseAfterLease: Duration { lease == nil ? .zero : pause }
    /// For the person in front of an app of this rank, where the rule refuses it or its lease ends; empty: none.
    public var message = ""
    /// For the person in front of an app that loses to one of this rank, or waits behind it; empty: none.
    public var messageToOthers = ""

    public init(
        name: String, when: [FactTest] = [], rank: Int, isImmediate: Bool = false, grace: Duration = .zero,
        minHold: Duration = .zero, lease: Duration? = nil, deny: Bool = false
    ) {
        (self.name, self.when, self.rank, self.isImmediate) = (name, when, rank, isImmediate)
        (self.grace, self.minHold, self.lease, self.deny) = (grace, minHold, lease, deny)
    }
}

/// The effect of cameras on each other.
public struct CameraRule: Hashable, Sendable {
    public var camera: CameraID
    /// Cameras that cannot run beside this one; either side listing the other is enough.
    public var conflicts: [CameraID]
    public var cost: CameraCost

    public init(camera: CameraID, conflicts: [CameraID] = [], cost: CameraCost = 0) {
        (self.camera, self.conflicts, self.cost) = (camera, conflicts, cost)
    }

    public init(camera: CameraID, conflicts: [CameraID] = [], cost: Int) {
        self.init(camera: camera, conflicts: conflicts, cost: CameraCost(cost))
    }
}

/// A fact of an app beyond the built-in ones: a named scale of values, declared in the file.
///
/// A trusted source gives each app its value (`Event.attribute`), and a client may lower its own app's
/// (`Event.loweredAttribute`). The value counts at once for all sessions of the app.
public struct Attribute: Hashable, Sendable {
    public var name: String
    /// Strongest first. Never empty.
    public var values: [String]
    /// The value of an app without one, or with one outside `values`.
    public var defaultValue: String

    /// - Parameter defaultValue: one of `values`; `nil`: the weakest.
    public init(name: String, values: [String], default defaultValue: String? = nil) {
        precondition(!values.isEmpty, "an attribute needs at least one value")
        precondition(defaultValue.map(values.contains) ?? true, "an attribute's default is one of its values")
        self.name = name
        self.values = values
        self.defaultValue = defaultValue ?? values[values.count - 1]
    }

    /// The index of a value, 0 the strongest; a value outside `values` counts as the default.
    package func place(of value: String?) -> Int {
        value.flatMap { values.firstIndex(of: $0) } ?? values.firstIndex(of: defaultValue) ?? values.count - 1
    }
}

extension Policy {
    /// Either side listing the other is enough.
    package func conflict(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    package func cost(_ camera: CameraID) -> CameraCost { cameras.first { $0.camera == camera }?.cost ?? 0 }

    /// Whether a decision on one camera can touch another at all.
    package var linksCameras: Bool { contention.budget != nil || cameras.contains { !$0.conflicts.isEmpty } }

    /// In force without a valid policy: first come, and nobody is interrupted by another app.
    public static let firstCome = Policy(
        name: "first-come", summary: "Built in: the first app keeps the camera, and nobody is interrupted.",
        contention: Contention(order: [], tie: .holder, sameApp: .newest))
}
