/// What a story can meet, and a run counts: a promise that was never tried is not kept.
public enum FuzzFeature: String, Sendable, CaseIterable {
    case sharing, conflict, ownConflict, sameApp, budget, refused
    case grace, withdrawn, ready, lease, evicted, denied, reload, builtIn, reservation, reclaimed
    case recording, recordingCut, diskFull, photo, stream
    case configuration, configurationRefused, switched, ramp, batch
    case limited, background, audio, severalApps, pressure, sensitive, attribute, mode, lowered
    case unplugged, configurationLost, privacy, loginSession, sleep, heldOutside, deviceError, reset, killed, gaveUp
    /// Somebody had no right to a camera, or lost it by a reload.
    case noRight, rightTaken
    /// A user was asked about an app, said no, did not answer, or stopped it.
    case asked, saidNo, unanswered, stoppedByUser
    case brokerRestarted, sourceGone, otherUser, operatorChose
    /// Compared with the reference to its end.
    case compared

    /// As a person reads it: `own-conflict`.
    public var words: String {
        rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
}

/// A set of cases as bits, in the order of `allCases`: few enough for a number, and a line can carry that.
public struct CaseSet<Case: CaseIterable & Hashable & Sendable>: Hashable, Sendable {
    public private(set) var bits: UInt64 = 0

    public init(bits: UInt64 = 0) { self.bits = bits }

    public mutating func insert(_ value: Case) { bits |= Self.bit(value) }
    public func contains(_ value: Case) -> Bool { bits & Self.bit(value) != 0 }
    public mutating func formUnion(_ other: CaseSet) { bits |= other.bits }
    public var missing: [Case] { Case.allCases.filter { !contains($0) } }

    private static func bit(_ value: Case) -> UInt64 {
        let index = Array(Case.allCases).firstIndex(of: value) ?? 0
        precondition(index < UInt64.bitWidth, "a set of cases has a bit for each")
        return 1 << UInt64(index)
    }
}
