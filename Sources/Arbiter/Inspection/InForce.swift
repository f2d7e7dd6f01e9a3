public import Vocabulary

extension Arbiter {
    /// Whether any user's apps are told apart by where they are; false: every client counts as foreground.
    public var isPresenceKnown: Bool { state.users.contains { state.isPresenceKnown(for: $0.user) } }

    /// Which source says where a user's apps are, or what counts instead.
    public func presenceStanding(for user: UInt32) -> PresenceStanding { state.presenceStanding(for: user) }

    /// What a camera counts towards the budget now, whoever has it; 0 for one that the policy does not name.
    public func costInUse(of camera: CameraID) -> Int { state.cameraNames[camera].map { state.costInUse(of: $0) } ?? 0 }

    /// What a session is configured to: while it runs what is in force on its camera, with what is the session's own;
    /// otherwise what it asked for, which is set when it runs.
    func configuration(of slot: Slot<Session>) -> Configuration {
        let wanted = state.sessionSettings[slot].wanted
        guard state.sessions[slot].shown.isRunning else { return wanted }
        var whole = state.cameraSettings[state.sessions[slot].camera].inForce
        whole.merge(wanted.keeping(\.isOfTheSession))
        return whole
    }
}
