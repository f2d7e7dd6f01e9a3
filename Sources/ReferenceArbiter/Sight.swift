public import ArbiterProtocol

/// What a policy sees of one session, worked out from the world anew each time.
public struct Sight: Sendable {
    /// Nil: nobody vouches for it.
    public var app: String?
    public var claimedApp: String?
    public var user: UInt32
    public var login: LoginState
    public var presence: Presence
    public var isFocused: Bool
    public var appsInFront: AppsInFront
    public var kind: ClientKind
    public var multitasking: Bool
    public var camera: CameraID
    public var position: CameraPosition
    public var usesAudio: Bool
    public var microphoneTaken: Bool
    public var pressure: SystemPressure
    /// Nil: none is in force.
    public var mode: String?
    public var isRecording: Bool
    /// It has not run since it was started.
    public var isNew: Bool
    public var isOperatorsChoice: Bool
    /// The app's value on each of the policy's scales, by the scale's name.
    public var values: [String: Value]

    public enum LoginState: Sendable { case none, active, inactive }

    /// One also when nobody knows.
    public enum AppsInFront: Sendable { case none, one, several }

    public struct Value: Hashable, Sendable {
        public var name: String
        /// 0 is the strongest.
        public var place: Int
    }
}
