import Vocabulary

/// One camera: what it can do, what keeps it from working, and who has it.
struct Camera: Hashable, Codable {
    var capabilities: CameraCapabilities
    var isPresent = true
    var isPrivate = false
    var isHeldOutside = false
    /// The recorder did not even end when it was killed.
    var isStuck = false
    /// Sessions with a start request, in the order of their ids.
    var requests: [SessionID] = []
    var tenancy: Tenancy = .free
    /// Streams that were ordered closed while the camera goes on for others, until the recorder confirms each.
    var closing: [Closing] = []
    /// Resets and device failures of the last minute, oldest first: five are too many.
    var faults: [Moment] = []
    /// Nobody is granted before; nil: at once.
    var restartAt: Moment?
    var reservation: Reservation?
    /// Who gets it as soon as the cut under way is done, or the recorder may be started again.
    var promise: Promise?

    struct Promise: Hashable, Codable {
        var session: SessionID
        var rule: String
    }

    struct Closing: Hashable, Codable {
        var session: SessionID
        /// The recorder is killed then: nobody watches on because a recorder hangs.
        var until: Moment
    }

    struct Reservation: Hashable, Codable {
        var app: AppID
        var until: Moment
    }
}

/// One camera's tenancy.
///
///     free ──▶ starting ──▶ streaming ──▶ revoking ──▶ free
///                 │             │             ▲
///                 └─────────────┴─────────────┘
///     starting, streaming ──▶ resetting ──▶ starting (after the backoff), or revoking, free (outranked, stopped)
///
/// What the contract calls `granted` is the camera's `promise`: the winner's place while the loser's cut
/// is under way, here or on a conflicting camera. It is dropped as soon as the winner stops claiming,
/// so that one who vanished meanwhile leaves no trace.
enum Tenancy: Hashable, Codable {
    case free
    /// Granted, and the recorder was told; its first frame is not there yet.
    case starting(Held)
    case streaming(Held)
    /// The recorder was lost, or the device failed, under this holder, who keeps its place. A recorder that lives
    /// was told to let go of the device.
    case resetting(Held, cause: Cause, cut: Cut?)
    /// The stream was ordered cut.
    case revoking(Cut)

    /// Who has the camera, whatever access it has.
    var held: Held? {
        switch self {
        case .starting(let held), .streaming(let held), .resetting(let held, _, _): held
        case .free, .revoking: nil
        }
    }

    /// Whose recorder or device was lost, and how.
    var lost: (holder: SessionID, cause: Cause)? {
        if case .resetting(let held, let cause, _) = self { (held.session, cause) } else { nil }
    }

    /// The cut under way.
    var cut: Cut? {
        switch self {
        case .revoking(let cut): cut
        case .resetting(_, _, let cut): cut
        case .free, .starting, .streaming: nil
        }
    }

    /// Frames may be captured for the holder.
    var isCapturing: Bool {
        switch self {
        case .starting, .streaming: true
        case .free, .resetting, .revoking: false
        }
    }

    /// Another deadline for the cut under way, or its end: nil.
    mutating func update(cut: Cut?) {
        switch self {
        case .revoking: self = cut.map { .revoking($0) } ?? .free
        case .resetting(let held, let cause, _): self = .resetting(held, cause: cause, cut: cut)
        case .free, .starting, .streaming: preconditionFailure("only a stream that was ordered cut has a cut")
        }
    }

    mutating func update(_ change: (inout Held) -> Void) {
        switch self {
        case .starting(var held):
            change(&held)
            self = .starting(held)
        case .streaming(var held):
            change(&held)
            self = .streaming(held)
        case .resetting(var held, let cause, let cut):
            change(&held)
            self = .resetting(held, cause: cause, cut: cut)
        case .free, .revoking: preconditionFailure("only a held camera has a holder to change")
        }
    }
}

/// A stream that was ordered cut, until the recorder confirms it.
struct Cut: Hashable, Codable {
    /// The recorder is killed then; a second time, the camera counts as broken.
    var until: Moment
    /// Only the end of the process confirms the cut any more.
    var isKilled = false
}

/// A holder's place.
struct Held: Hashable, Codable {
    var session: SessionID
    /// It left in this step, and the camera goes on for who follows: only between an event and its settling.
    var isVacant = false
    var granted: Ordinal
    var since: Moment
    /// Stronger claims wait until then, unless they override.
    var minHoldUntil: Moment?
    var leaseUntil: Moment?
    var contest: Contest?
    /// The rule that gave it the camera.
    var rule: String
    /// What the camera is set to, as far as the recorder said; kept only where a policy shares cameras, for those
    /// who come to watch.
    var inForce = Configuration()
}

/// A stronger claim that has to wait a little: for the holder's grace, or for its min-hold.
struct Contest: Hashable, Codable {
    /// Who gets the camera when time is up.
    var beneficiary: SessionID
    /// When the decision is looked at again: the announcement, or the cut.
    var due: Moment
    var rule: String
    /// Set once the holder was told.
    var announced: Announced?

    struct Announced: Hashable, Codable {
        /// Never moves later.
        var deadline: Moment
        var isReady = false
    }
}
