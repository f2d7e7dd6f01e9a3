package import Arbiter
package import ArbiterProtocol
import PolicyFile

/// How time passes in a walk that does not count what is left of leases. A lease lasts for minutes and is used up in pieces of
/// seconds: counted, most states of a world differ in nothing else. Here a state stands for all states that differ only in what is
/// left of each lease.
///
/// No violation is lost. The core sees only the end of a lease, and time passes here in every way in which it could pass in any of
/// these states: some leases end at any moment up to the earliest other deadline, or none does until then. Moments are `step` apart;
/// every time of the policy is a multiple of it, and so is every deadline. So each path through states that count leases has one of
/// the same length through these, with the same events. The converse does not hold, since a lease that was just granted cannot be
/// over: findings are looked for again with leases counted.
package struct LeaseAbstraction: Sendable {
    let step: Duration
    let longest: Duration
    /// A session that gets another rank, or another policy, may get a lease that is over already.
    private let change: Bool

    /// More moments up to a deadline would make more steps than counting leases makes states.
    private static let momentsMax: Int64 = 64

    /// `nil` where the policies have no leases, or their times have too little in common.
    /// - Parameters:
    ///   - policies: one, or two that are walked in step.
    ///   - isReplaced: another policy may be loaded, and this one again: a camera may have been held for longer than a lease then.
    package init?(_ policies: [Policy], isReplaced: Bool) {
        let rules = policies.flatMap(\.rankRules)
        // The used part of a lease is forgotten after the cool-down, or the longest pause.
        guard let longest = rules.compactMap(\.lease).max(), Set(policies.map(\.contention.coolDown)).count == 1,
            Set(policies.map { $0.rankRules.map(\.pauseAfterLease).max() ?? .zero }).count == 1
        else { return nil }
        var others = rules.flatMap { [$0.grace, $0.minHold, $0.grace + $0.minHold, $0.pause] }
        others += policies.map(\.contention.coolDown)
        if !PolicyReads(policies).pressures.isEmpty { others += policies.map(\.pressureSettle) }
        let step = (rules.compactMap(\.lease) + others).map(\.wholeNanoseconds).reduce(0, commonDivisor)
        guard step > 0, (others.max() ?? .zero).wholeNanoseconds / step <= Self.momentsMax else { return nil }
        change = isReplaced || rules.contains { $0.when.contains { !$0.isOfNames } }
        self.step = .nanoseconds(step)
        self.longest = longest
    }

    /// Calls the body for every way in which time may pass from a state, with the state whose leases were chosen so, and the next
    /// moment.
    /// - Returns: false where the body returned false; `nil` where a deadline is no multiple of the step, so that the walk is worth
    ///   nothing.
    package func forEachPassing<Walked: LeasedState>(
        from state: Walked, _ body: (_ choice: Int, _ before: Walked, _ now: Moment) -> Bool
    ) -> Bool? {
        guard let leased = state.leasedCameras else { return nil }
        let other = state.earliestOtherDeadline
        if other < .distantFuture {
            guard (other - state.now).wholeNanoseconds % step.wholeNanoseconds == 0 else { return nil }
            let moment = max(other, state.now)
            if let lasting = lasting(state, leased, beyond: moment) {
                guard body(SmallWorld.timePasses, lasting, moment) else { return false }
            }
        }
        var choice = SmallWorld.timePasses
        for ending in Self.someOf(leased) {
            // Once all remembered times are over, the moment at which the lease ends makes no difference.
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

    /// `nil` where one of the leases is over by then, however little of it was used.
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

/// The times and leases of a state, or of two states that look alike.
package protocol LeasedState {
    var now: Moment { get }
    /// Cameras whose holders have a lease, in the order of their ids; `nil` where two states have different leases.
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
