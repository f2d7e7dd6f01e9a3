import Vocabulary

/// One connection, as far as decisions need it.
struct Client: Hashable, Codable {
    let id: ClientID
    var app: AppID
    /// The kernel vouches for the app's name.
    var isVerified: Bool
    var attributes: ClientAttributes
    var loginSession: LoginSessionID?
    /// A weaker rank the client took for itself, by name: a reloaded policy may lack it, then it counts for nothing.
    var loweredTo: String?
    /// Weaker values of attributes that the client took for its app.
    var loweredAttributes = AttributeValues()
    /// In the order of their creation.
    var sessions: [SessionID] = []
}

/// One client's capture session.
struct Session: Hashable, Codable {
    let id: SessionID
    let client: ClientID
    let app: AppID
    var camera: CameraID
    /// Set by `startRunning`; survives interruptions.
    var request: StartRequest?
    /// A trusted agent raised it, and the client has not continued yet.
    var isSensitive = false
    /// It says that it ran before the broker restarted, and has not been granted since.
    var isReestablished = false
    /// Why it waits for its camera although nothing else keeps it from running.
    var waits: Waiting?
    var shown: Shown = .stopped
    var isRecording = false
    /// All that the client asked for, whether or not it is in force yet.
    var configuration: Configuration
    /// What the recorder was last told, or confirmed; what a refused batch falls back to.
    var confirmed: Configuration
    /// It was moved to another camera, and its client has not been told that this is in force.
    var isSwitched = false
    /// Batches between `beginConfiguration` and `commitConfiguration`, merged; nil outside.
    var open: OpenBatch?

    /// It wants to watch beside whoever configures and records; counts where the policy shares cameras.
    var asksToWatch: Bool { configuration[.sharingMode] == .text("sharedReadOnly") }

    var usesAudio: Bool { configuration[.usesAudio] == .flag(true) }

    struct StartRequest: Hashable, Codable {
        var started: Ordinal
        /// When it last began to contend: with its request, or when its causes last left access again. Nil: it does not.
        var claimed: Ordinal?
        /// It has held the camera since this request.
        var hasHeld = false
        /// What is left of its lease: leases count held time only. Nil: nothing was used yet, or there is no lease.
        var leaseLeft: Duration?
    }

    struct Waiting: Hashable, Codable {
        /// Whose claim stands in the way; nil: nobody's, the camera is reserved or held outside the broker.
        var interrupter: AppID?
        var rule: String
        /// It watches beside the holder meanwhile.
        var isSharing = false
    }

    struct OpenBatch: Hashable, Codable {
        var depth: Int
        var batch: Configuration
    }

    /// What the client was last told.
    ///
    ///     stopped ──▶ pending ──▶ running ──▶ interrupted ──▶ pending
    ///
    /// Everything leads to `stopped` by a stop, and to `interrupted` by causes.
    enum Shown: Hashable, Codable {
        case stopped
        /// A start request that is being served: nothing has been said yet.
        case pending
        case running(Access)
        case interrupted(CauseSet)
    }
}
