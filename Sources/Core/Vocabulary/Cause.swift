/// A single live reason that limits a session.
///
/// Raw values 1–6 are those of AVFoundation's `AVCaptureSession.InterruptionReason`; 100 and above are camarb's own,
/// for conditions of a desktop that a phone does not have. Wire names are the table of `docs/semantics.md` §3 and never
/// change.
public enum Cause: UInt8, Hashable, Sendable, CaseIterable, BitwiseCopyable {
    case videoDeviceNotAvailableInBackground = 1
    case audioDeviceInUseByAnotherClient = 2
    case videoDeviceInUseByAnotherClient = 3
    case videoDeviceNotAvailableWithMultipleForegroundApps = 4
    case videoDeviceNotAvailableDueToSystemPressure = 5
    case sensitiveContentMitigationActivated = 6
    case videoDeviceDisconnected = 100
    case videoDeviceBlockedByPrivacy = 101
    case loginSessionInactive = 102
    case systemSleep = 103
    case deviceError = 104
    case recorderReset = 106
    case brokerRestarted = 107
    case waitingForPermission = 108

    public var wireName: String { names.wire }

    /// The word of scenarios, timelines and `camclient`: the wire name without its constant part.
    public var shortName: String { names.short }

    private var names: (wire: String, short: String) {
        switch self {
        case .videoDeviceNotAvailableInBackground: ("video-device-not-available-in-background", "in-background")
        case .audioDeviceInUseByAnotherClient: ("audio-device-in-use-by-another-client", "audio-in-use")
        case .videoDeviceInUseByAnotherClient: ("video-device-in-use-by-another-client", "device-in-use")
        case .videoDeviceNotAvailableWithMultipleForegroundApps:
            ("video-device-not-available-with-multiple-foreground-apps", "multiple-foreground-apps")
        case .videoDeviceNotAvailableDueToSystemPressure:
            ("video-device-not-available-due-to-system-pressure", "system-pressure")
        case .sensitiveContentMitigationActivated: ("sensitive-content-mitigation-activated", "sensitive-content")
        case .videoDeviceDisconnected: ("video-device-disconnected", "disconnected")
        case .videoDeviceBlockedByPrivacy: ("video-device-blocked-by-privacy", "privacy")
        case .loginSessionInactive: ("login-session-inactive", "login-session-inactive")
        case .systemSleep: ("system-sleep", "system-sleep")
        case .deviceError: ("device-error", "device-error")
        case .recorderReset: ("recorder-reset", "recorder-reset")
        case .brokerRestarted: ("broker-restarted", "broker-restarted")
        case .waitingForPermission: ("waiting-for-permission", "waiting-for-permission")
        }
    }

    public init?(wireName: String) {
        guard let cause = Cause.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = cause
    }

    public init?(shortName: String) {
        guard let cause = Cause.allCases.first(where: { $0.shortName == shortName }) else { return nil }
        self = cause
    }

    /// Every cause lets the session resume by itself, except the one that needs the client's `Continue`.
    public var needsAction: Bool { self == .sensitiveContentMitigationActivated }

    /// The order in which one of several causes becomes *the* reason, most telling first: things that the user sees and
    /// touches (the plug, the switch, sleep) before a policy's decision.
    public static let reasonOrder: [Cause] = [
        .videoDeviceDisconnected, .videoDeviceBlockedByPrivacy, .systemSleep, .loginSessionInactive,
        .waitingForPermission, .recorderReset, .brokerRestarted, .deviceError, .sensitiveContentMitigationActivated,
        .videoDeviceNotAvailableInBackground, .videoDeviceNotAvailableWithMultipleForegroundApps,
        .videoDeviceNotAvailableDueToSystemPressure, .videoDeviceInUseByAnotherClient, .audioDeviceInUseByAnotherClient,
    ]
}

/// A set of causes that always lists them in reason order, so that no hash order reaches the wire.
public struct CauseSet: Hashable, Sendable, BitwiseCopyable {
    /// Bit *i* stands for `Cause.reasonOrder[i]`: the lowest bit set is the reason.
    package private(set) var bits: UInt16 = 0

    public init() {}

    public init(_ causes: some Sequence<Cause>) { for cause in causes { insert(cause) } }

    private static func bit(_ cause: Cause) -> UInt16 {
        switch cause {
        case .videoDeviceDisconnected: 1 << 0
        case .videoDeviceBlockedByPrivacy: 1 << 1
        case .systemSleep: 1 << 2
        case .loginSessionInactive: 1 << 3
        case .waitingForPermission: 1 << 4
        case .recorderReset: 1 << 5
        case .brokerRestarted: 1 << 6
        case .deviceError: 1 << 7
        case .sensitiveContentMitigationActivated: 1 << 8
        case .videoDeviceNotAvailableInBackground: 1 << 9
        case .videoDeviceNotAvailableWithMultipleForegroundApps: 1 << 10
        case .videoDeviceNotAvailableDueToSystemPressure: 1 << 11
        case .videoDeviceInUseByAnotherClient: 1 << 12
        case .audioDeviceInUseByAnotherClient: 1 << 13
        }
    }

    public var isEmpty: Bool { bits == 0 }
    public func contains(_ cause: Cause) -> Bool { bits & Self.bit(cause) != 0 }
    public mutating func insert(_ cause: Cause) { bits |= Self.bit(cause) }
    public mutating func remove(_ cause: Cause) { bits &= ~Self.bit(cause) }
    public mutating func formUnion(_ other: CauseSet) { bits |= other.bits }
    public func union(_ other: CauseSet) -> CauseSet {
        var sum = self
        sum.formUnion(other)
        return sum
    }

    /// The causes, the most telling first.
    public var ordered: [Cause] {
        var list: [Cause] = []
        var rest = bits
        while rest != 0 {
            list.append(Cause.reasonOrder[rest.trailingZeroBitCount])
            rest &= rest - 1
        }
        return list
    }

    /// The cause that is reported as *the* reason; `nil`: the set is empty.
    public var reason: Cause? { bits == 0 ? nil : Cause.reasonOrder[bits.trailingZeroBitCount] }
}
