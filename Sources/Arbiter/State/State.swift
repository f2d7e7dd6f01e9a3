import Vocabulary

/// All that decisions depend on. What only counts (ids, sequence numbers, past decisions) is in the `Ledger`.
struct State: Hashable, Codable {
    var now = Moment.zero
    /// A snapshot has it as text, beside the rest.
    private(set) var sharedPolicy: Stamped<Policy>
    var clients: SmallMap<ClientID, Client> = [:]
    /// The clients of an app, sorted.
    var apps: SmallMap<AppID, [ClientID]> = [:]
    var sessions: SmallMap<SessionID, Session> = [:]
    var cameras: SmallMap<CameraID, Camera> = [:]
    /// The cameras in the order of their ids; the first is the default one.
    var cameraOrder: [CameraID] = []
    /// Sessions with a start request, sorted: all that a change of a machine-wide fact can touch.
    var requesting: [SessionID] = []
    private var sharedWorld = Shared(World())
    var lastOrdinal: UInt64 = 0

    init(policy: Policy) { sharedPolicy = Stamped(policy) }

    var policy: Policy {
        _read { yield sharedPolicy.value }
        // Loading the policy that is in force anyway leaves its stamp.
        set { if newValue != sharedPolicy.value { sharedPolicy = Stamped(newValue) } }
    }

    var world: World {
        _read { yield sharedWorld.value }
        _modify { yield &sharedWorld.value }
    }

    mutating func nextOrdinal() -> Ordinal {
        lastOrdinal += 1
        return Ordinal(value: lastOrdinal)
    }

    /// The same state, seen from now and without its history: moments become distances (what is past is zero),
    /// ordinals their rank. Two states that behave alike from here on become equal, so small worlds are finite.
    func canonical() -> State {
        var copy = self
        copy.now = .zero
        func distance(_ moment: Moment) -> Moment { Moment(nanoseconds: max(0, moment.nanoseconds - now.nanoseconds)) }

        var ordinals: [Ordinal] = []
        for session in sessions.values {
            if let request = session.request {
                ordinals.append(request.started)
                if let claimed = request.claimed { ordinals.append(claimed) }
            }
        }
        for camera in cameras.values { if let held = camera.tenancy.held { ordinals.append(held.granted) } }
        ordinals.sort()
        func rank(_ ordinal: Ordinal) -> Ordinal {
            Ordinal(value: UInt64((ordinals.firstIndex(of: ordinal) ?? 0) + 1))
        }
        copy.lastOrdinal = 0

        for id in sessions.keys {
            guard var request = copy.sessions[id]?.request else { continue }
            request.started = rank(request.started)
            request.claimed = request.claimed.map(rank)
            copy.sessions[id]?.request = request
        }
        for id in cameras.keys {
            guard var camera = copy.cameras[id] else { continue }
            if var cut = camera.tenancy.cut {
                cut.until = distance(cut.until)
                camera.tenancy.update(cut: cut)
            }
            if camera.tenancy.held != nil {
                camera.tenancy.update { held in
                    held.granted = rank(held.granted)
                    held.since = .zero
                    held.minHoldUntil = held.minHoldUntil.map(distance)
                    if held.minHoldUntil == .zero { held.minHoldUntil = nil }
                    held.leaseUntil = held.leaseUntil.map(distance)
                    if var contest = held.contest {
                        contest.due = distance(contest.due)
                        if let announced = contest.announced {
                            contest.announced?.deadline = distance(announced.deadline)
                        }
                        held.contest = contest
                    }
                }
            }
            camera.closing = camera.closing.map { Camera.Closing(session: $0.session, until: distance($0.until)) }
            // Ages, not distances: a fault counts for a minute after it happened.
            camera.faults = camera.faults.map { Moment(nanoseconds: now.nanoseconds - $0.nanoseconds) }
            camera.restartAt = camera.restartAt.map(distance)
            if let reservation = camera.reservation {
                camera.reservation = Camera.Reservation(app: reservation.app, until: distance(reservation.until))
            }
            copy.cameras[id] = camera
        }
        if !world.coolDowns.isEmpty {
            copy.world.coolDowns = world.coolDowns.map {
                World.CoolDown(app: $0.app, camera: $0.camera, until: distance($0.until))
            }
        }
        if !world.falling.isEmpty {
            copy.world.falling = world.falling.map { World.Falling(to: $0.to, at: distance($0.at)) }
        }
        for (key, state) in world.sources {
            switch state {
            case .frozen(let until): copy.world.sources[key] = .frozen(until: distance(until))
            case .resumed(let until): copy.world.sources[key] = .resumed(until: distance(until))
            case .attached, .lost: break
            }
        }
        return copy
    }
}
