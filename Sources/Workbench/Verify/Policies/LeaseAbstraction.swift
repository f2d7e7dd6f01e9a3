package import Arbiter
package import ArbiterProtocol

/// How time passes in a walk that does not count what is left of leases.
///
/// A lease lasts for minutes and is used up in pieces of seconds, whenever its holder is cut and comes back: counted,
/// most states of a world differ in nothing else. Here a state stands for all that are like it except in what is left of
/// each lease, which may be anything up to the longest lease there is.
///
/// No violation is lost. Of what is left of a lease the core sees nothing but its end, and time passes here in every
/// way in which it could pass in any of the states that one stands for: some leases end at any moment up to the earliest
/// other deadline, or none does until then. Moments are `step` apart: every time of the policy is a multiple of it, so
/// all deadlines that come of them are, too. So for each way through the states that count their leases there is one
/// of the same length through these, with the same events and, leases apart, the same states.
///
/// The other way round it does not hold: a lease that was only just granted cannot be over, unless its holder came to it
/// with another rank or from another policy. What is found broken here is looked for again with leases counted, and only
/// what is found then counts.
package struct LeaseAbstraction: Sendable {
    let step: Duration
    let longest: Duration
    /// Whoever comes to another rank, or from another policy, may come to a lease that is over already.
    private let change: Bool

    /// More moments than this up to a deadline would make more steps than counting leases makes states.
    private static let momentsMax: Int64 = 64

    /// Nil: the policy has no leases, or its times have too little in common for this to be of use.
    /// - Parameters:
    ///   - policies: one, or two that are walked in step.
    ///   - isReplaced: another policy may be loaded, and this one again: a camera that is held since then may have been held for
    ///     longer than a lease before.
    package init?(_ policies: [Policy], isReplaced: Bool) {
        let rules = policies.flatMap(\.rankRules)
        // What was used of a lease is forgotten after the cool-down.
        guard let longest = rules.compactMap(\.lease).max(), Set(policies.map(\.contention.coolDown)).count == 1 else {
            return nil
        }
        var others = rules.flatMap { [$0.grace, $0.minHold, $0.grace + $0.minHold] }
        others += policies.map(\.contention.coolDown)
        if !PolicyReads(policies).pressures.isEmpty { others += policies.map(\.pressureSettle) }
        let step = (rules.compactMap(\.lease) + others).map(\.wholeNanoseconds).reduce(0, commonDivisor)
        guard step > 0, (others.max() ?? .zero).wholeNanoseconds / step <= Self.momentsMax else { return nil }
        change = isReplaced || rules.contains { $0.when.contains { !$0.isOfNames } }
        self.step = .nanoseconds(step)
        self.longest = longest
    }

    /// Calls with every way in which time may pass from a state: a number, the state with what is left of its leases
    /// chosen so, and the moment that comes then. False where the body said so, and nil where a deadline is not a
    /// multiple of the step: then this walk is worth nothing.
    package func forEachPassing<Walked: LeasedState>(
        from state: Walked, _ body: (_ choice: Int, _ before: Walked, _ now: Moment) -> Bool
    ) -> Bool? {
        guard let leased = state.leasedCameras else { return nil }
        let other = state.earliestOtherDeadline
        if other < .distantFuture {
            guard (other - state.now).wholeNanoseconds % step.wholeNanoseconds == 0 else { return nil }
            let moment = max(other, state.now)
            // Deadlines that are due already wait for nobody.
            if let lasting = lasting(state, leased, beyond: moment) {
                guard body(SmallWorld.timePasses, lasting, moment) else { return false }
            }
        }
        var choice = SmallWorld.timePasses
        for ending in Self.someOf(leased) {
            // Once every time that is remembered is over, it is the same when the lease ends.
            var last = min(state.now + longest, other)
            if other == .distantFuture { last = min(last, state.lastUnwatchedTime(besides: ending) + step) }
            for camera in ending { last = min(last, state.now + state.leaseLength(on: camera)) }
            let rest = leased.filter { !ending.contains($0) }
            var moment = change ? state.now : state.now + step
            while moment <= last {
                choice -= 1
                if var before = lasting(state, rest, beyond: moment) {
                    for camera in ending { before.endLease(on: camera, at: moment) }
                    guard body(choice, before, moment) else { return false }
                }
                moment = moment + step
            }
        }
        return true
    }

    /// Nil: one of the leases is over by then, however little of it was used.
    private func lasting<Walked: LeasedState>(_ state: Walked, _ leased: [Slot<Camera>], beyond moment: Moment)
        -> Walked?
    {
        var state = state
        for camera in leased {
            guard moment + step - state.now <= state.leaseLength(on: camera) else { return nil }
            state.endLease(on: camera, at: moment + step)
        }
        return state
    }

    private static func someOf(_ cameras: [Slot<Camera>]) -> [[Slot<Camera>]] {
        (0..<1 << cameras.count).dropFirst().map { bits in
            cameras.indices.filter { bits >> $0 & 1 == 1 }.map { cameras[$0] }
        }
    }
}

/// What a walk takes its steps from, as far as time and leases go: a state, or two that look alike so far.
package protocol LeasedState {
    var now: Moment { get }
    /// The cameras whose holders' leases run, in the order of their ids; nil: not the same leases under both policies.
    var leasedCameras: [Slot<Camera>]? { get }
    var earliestOtherDeadline: Moment { get }
    func lastUnwatchedTime(besides cameras: [Slot<Camera>]) -> Moment
    func leaseLength(on camera: Slot<Camera>) -> Duration
    mutating func endLease(on camera: Slot<Camera>, at moment: Moment)
}

extension ExploredState: LeasedState {
    package var leasedCameras: [Slot<Camera>]? { arbiter.leasedCameras }
    package var earliestOtherDeadline: Moment { arbiter.earliestDeadline(leases: false) ?? .distantFuture }
    package func lastUnwatchedTime(besides cameras: [Slot<Camera>]) -> Moment {
        arbiter.lastUnwatchedTime(besides: cameras)
    }
    package func leaseLength(on camera: Slot<Camera>) -> Duration { arbiter.leaseLength(on: camera) ?? .zero }
    package mutating func endLease(on camera: Slot<Camera>, at moment: Moment) {
        arbiter.endLease(on: camera, at: moment)
    }
}

extension JointState: LeasedState {
    package var now: Moment { first.now }
    var leasedCameras: [Slot<Camera>]? {
        let cameras = first.arbiter.leasedCameras
        let areSame =
            cameras == second.arbiter.leasedCameras
            && cameras.allSatisfy { first.leaseLength(on: $0) == second.leaseLength(on: $0) }
        return areSame ? cameras : nil
    }
    var earliestOtherDeadline: Moment { min(first.earliestOtherDeadline, second.earliestOtherDeadline) }
    func lastUnwatchedTime(besides cameras: [Slot<Camera>]) -> Moment {
        max(first.lastUnwatchedTime(besides: cameras), second.lastUnwatchedTime(besides: cameras))
    }
    func leaseLength(on camera: Slot<Camera>) -> Duration { first.leaseLength(on: camera) }
    mutating func endLease(on camera: Slot<Camera>, at moment: Moment) {
        first.endLease(on: camera, at: moment)
        second.endLease(on: camera, at: moment)
    }
}

extension FactTest {
    /// It reads what never changes of a session that has its camera.
    var isOfNames: Bool {
        switch self {
        case .app, .claimedApp, .user, .camera: true
        default: false
        }
    }
}
