package import Vocabulary

/// One camera: its causes, its requests and its tenancy.
package struct Camera: Sendable, Codable, BitwiseCopyable {
    package var isPresent = true
    package var isPrivate = false
    package var isHeldOutside = false
    /// The recorder did not even end by SIGKILL.
    package var isStuck = false
    /// Sessions with a start request, in the order of their ids.
    package var firstRequest: Slot<Session>?
    package var tenancy = Tenancy.free
    /// The session that gets the camera as soon as the present cut is done, or the device may be tried again.
    package var promise: Promise?
    /// Faults in a row: the length of the next wait.
    package var faults: UInt8 = 0
    /// The last grant, and the decision of the present cut or grant.
    package var grant = GrantID(0)
    var handover: DecisionID = 0
    /// Its place in the policy's table, negative where that lacks it, and its number in the rules.
    package var place: Int8 = -1
    var who: UInt64 = 0
    var position: UInt8 = 0
    /// Its place among the seats; negative: at no seat that is told apart.
    package var seat: Int8 = 0

    package struct Promise: Hashable, Sendable, Codable, BitwiseCopyable {
        package var session: Slot<Session>
        package var rule: Rule
        /// Won while the device was not to be tried: before it opens, the bid must beat the bids that it then meets on
        /// other cameras.
        package var isDormant = false
        /// The bid that the app was warned of, in the place that the session takes over.
        package var contest: Contest?
    }

    /// The bid that the holder, or the promised session, has to make way for.
    package var contest: Contest? { tenancy.held?.contest ?? promise?.contest }
}

/// A camera's settings in words. Beside the plain row, because hardly any step reads them.
package struct CameraSettings: Hashable, Sendable, Codable {
    package var capabilities: CameraCapabilities
    /// The settings by the recorder's reports since the grant.
    package var inForce = Configuration()
    /// Orders without a reply, the earliest first, each with its session.
    package var asked: [Asked] = []
    /// The format keys that were ordered in place of the holder's own; `nil`: none.
    package var served: Configuration?

    package struct Asked: Hashable, Sendable, Codable {
        /// `nobody`: it has left the camera.
        package var session: UInt64
        static let nobody: UInt64 = 0
        /// The client's batch, and the order to its recorder.
        package var batch: Configuration
        package var ordered: Configuration
        package var by: Applier
    }
}

/// One camera's tenancy.
///
///     free ──▶ starting ──▶ streaming ──▶ revoking ──▶ free
///                 │             │             ▲
///                 └─────────────┴─────────────┘
///     free ──▶ surviving (after a restart of the broker) ──▶ streaming (reclaimed), revoking, or free (its recorder ended)
///     starting, streaming ──▶ lost ──▶ starting (after the backoff), or revoking, free (outranked, stopped)
///
/// The contract's `granted` is the camera's `promise`: the winner's place while the loser's cut
/// is under way, here or on a conflicting camera. It is dropped as soon as the winner stops bidding,
/// so that a winner that vanished meanwhile leaves no trace.
package enum Tenancy: Hashable, Sendable, Codable, BitwiseCopyable {
    case free
    /// A recorder core captures on for a grant of the former broker: no other app gets this camera meanwhile.
    case surviving(Survivor)
    /// Granted and ordered open; failed without a first frame by `until`.
    case starting(Held, until: Moment)
    case streaming(Held)
    /// The recorder was lost, or the device failed. For others the camera counts for nothing until it is tried again.
    case lost(Held, cut: Cut?)
    /// The stream was ordered cut.
    case revoking(Cut)

    /// The holder of the camera, whatever access it has.
    package var held: Held? {
        switch self {
        case .starting(let held, _), .streaming(let held), .lost(let held, _): held
        case .free, .surviving, .revoking: nil
        }
    }

    package var holder: Slot<Session>? {
        switch self {
        case .starting(let held, _), .streaming(let held), .lost(let held, _): held.session
        case .free, .surviving, .revoking: nil
        }
    }

    package var cut: Cut? {
        switch self {
        case .revoking(let cut): cut
        case .lost(_, let cut): cut
        case .free, .surviving, .starting, .streaming: nil
        }
    }

    package var isCapturing: Bool { if case .starting = self { true } else { isStreaming } }

    package var survivor: Survivor? { if case .surviving(let survivor) = self { survivor } else { nil } }
    package var isStreaming: Bool { if case .streaming = self { true } else { false } }
    package var isLost: Bool { if case .lost = self { true } else { false } }

    /// Sets another deadline for the present cut; `nil` ends the cut, or a survivor.
    mutating func update(cut: Cut?) {
        switch self {
        case .revoking, .surviving: self = cut.map { .revoking($0) } ?? .free
        case .lost(let held, _): self = .lost(held, cut: cut)
        case .free, .starting, .streaming: preconditionFailure("only a stream that was ordered cut has a cut")
        }
    }

    mutating func update(_ change: (inout Held) -> Void) {
        switch self {
        case .starting(var held, let until):
            change(&held)
            self = .starting(held, until: until)
        case .streaming(var held):
            change(&held)
            self = .streaming(held)
        case .lost(var held, let cut):
            change(&held)
            self = .lost(held, cut: cut)
        case .free, .surviving, .revoking: preconditionFailure("only a held camera has a holder to change")
        }
    }
}

/// A stream that was ordered cut, until the recorder confirms it.
package struct Cut: Hashable, Sendable, Codable, BitwiseCopyable {
    /// The recorder is killed then; a second time, the camera counts as broken.
    package var until: Moment
    /// Only the end of the process confirms the cut any more.
    package var isKilled = false
}

package struct Held: Hashable, Sendable, Codable, BitwiseCopyable {
    package var session: Slot<Session>
    package var granted: Ordinal
    package var since: Moment
    /// The moment of its first frame; `nil` until then.
    package var streamingSince: Moment?
    /// Stronger bids wait until then, unless they are immediate.
    package var minHoldUntil: Moment?
    package var leaseUntil: Moment?
    /// Since when held time is not banked yet; `nil`: its rank has no lease.
    package var leaseSince: Moment?
    /// The lease of its rank at the last look, in nanoseconds: a different length is a different lease.
    package var leaseOfRank: Int64?
    package var contest: Contest?
    /// The rule of the grant.
    package var rule: Rule
}

/// A stronger bid that has to wait: for the holder's grace, or for its min-hold.
package struct Contest: Hashable, Sendable, Codable, BitwiseCopyable {
    /// The session that gets the camera when the time is up.
    package var beneficiary: Slot<Session>
    /// The moment of the contest's next decision: the announcement, or the cut.
    package var due: Moment
    package var rule: Rule
    /// Set with the holder's warning.
    package var announced: Announced?

    package struct Announced: Hashable, Sendable, Codable, BitwiseCopyable {
        /// Never moves later.
        package var deadline: Moment
        package var isReady = false
    }
}

extension Held {
    /// Sets the lease's end; `nil`: no lease runs.
    mutating func setLease(until: Moment?, _ rank: RankTerms, _ now: Moment) {
        leaseUntil = until
        leaseSince = until == nil ? nil : now
        leaseOfRank = rank.lease
    }

    /// The app's use of a lease, in nanoseconds, `banked` included. A grace after a used-up lease is no part of it.
    package func leaseUsed(by now: Moment, banked: Int64) -> Int64 {
        guard let since = leaseSince else { return banked }
        return max(banked, min(banked + (now - since).wholeNanoseconds, leaseOfRank ?? .max))
    }
}
