package import Vocabulary

package struct Session: Sendable, Codable, BitwiseCopyable {
    package let id: UInt64
    package let client: Slot<Client>
    /// Of the same client, in the order of their creation.
    package var nextOfClient: Slot<Session>?
    package var camera: Slot<Camera>
    /// Of the sessions that ask for the same camera, in the order of their ids.
    package var nextOnCamera: Slot<Session>?
    /// Set by `startRunning`; survives interruptions.
    package var request: StartRequest?
    package var shown = Shown.stopped
    /// Why it waits for its camera although nothing else keeps it from running.
    package var waits: Waiting?
    /// The recorder or device was lost, and the session has not run since: 104 or 106.
    package var lost: Lost?
    /// Recorders in a row that died under it, and times in a row that the camera could not start for want of room.
    package var deaths: UInt8 = 0
    package var refusals: UInt8 = 0
    package var has: Marks = []
    /// Counts and ids that no decision reads.
    package var ledger = Ledger()

    package struct StartRequest: Hashable, Sendable, Codable, BitwiseCopyable {
        package var started: Ordinal
        /// The start of its present contention: its request, or the moment when its causes last left access again.
        /// `nil`: it does not contend.
        package var bidSince: Ordinal?
        /// The session has run since this request.
        package var hasHeld = false

        /// Traces of 0.1 begin with states that have the earlier name.
        private enum CodingKeys: String, CodingKey {
            case started
            case bidSince = "claimed"
            case hasHeld
        }
    }

    package struct Waiting: Hashable, Sendable, Codable, BitwiseCopyable {
        /// The app whose bid stands in the way; `nil`: none, or an app that has gone.
        package var interrupter: AppRef?
        package var rule: Rule
        /// The session watches beside the holder meanwhile.
        package var isSharing = false
    }

    package enum Lost: UInt8, Sendable, Codable, BitwiseCopyable {
        case recorder, device

        package var cause: Cause { self == .recorder ? .recorderReset : .deviceError }
    }

    /// The session's state by its client's last notice.
    ///
    ///     stopped ──▶ pending ──▶ running ──▶ interrupted ──▶ running
    ///
    /// Everything leads to `stopped` by a stop, and to `interrupted` by causes. An interruption ends with the first
    /// frame: a session that has won and waits for the frame is still `interrupted`, with the causes of its last
    /// notice.
    package enum Shown: Hashable, Sendable, Codable, BitwiseCopyable {
        case stopped
        /// A start request before its first notice.
        case pending
        case running(Access)
        case interrupted(CauseSet, by: AppRef?)

        package var isRunning: Bool { if case .running = self { true } else { false } }

        /// The interrupter follows from the apps in front, or will once no other cause has one.
        var namesTheAppBeside: Bool {
            guard case .interrupted(let causes, _) = self else { return false }
            return causes.contains(.videoDeviceNotAvailableWithMultipleForegroundApps)
        }
    }

    package struct Marks: OptionSet, Hashable, Sendable, Codable, BitwiseCopyable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        /// A trusted agent raised the cause, and the client has not continued yet.
        package static let sensitiveContent = Marks(rawValue: 1)
        /// The session ran before the broker restarted, by its own claim, and has not run since.
        package static let reestablished = Marks(rawValue: 2)
        package static let recording = Marks(rawValue: 4)
        package static let audio = Marks(rawValue: 8)
        /// The session asks to watch beside the holder; counts where the policy shares cameras.
        package static let asksToWatch = Marks(rawValue: 16)
        /// The session moved to another camera, and its client has no notice yet that this is in force.
        package static let switched = Marks(rawValue: 32)
        /// Between `beginConfiguration` and `commitConfiguration`.
        package static let insideBatch = Marks(rawValue: 64)
        /// Closed, with the end of its recording still to be sent.
        package static let closing = Marks(rawValue: 128)
        /// The session has opened a preview stream since it last started or last received the outputs to open again.
        package static let previews = Marks(rawValue: 256)
        /// Its client's microphone is attached to its grant.
        package static let microphone = Marks(rawValue: 512)
        /// Its last recording had timed metadata, since it last started or last received the metadata to declare again.
        package static let metadata = Marks(rawValue: 1024)
        package static let paused = Marks(rawValue: 2048)
        /// Its `captureMode` is `video`.
        package static let takesVideo = Marks(rawValue: 4096)
        /// The preview was ordered black for the present grant.
        package static let slate = Marks(rawValue: 8192)
        /// The session had a microphone at its switch to another camera, and its client has no notice yet to attach it
        /// again.
        package static let hadMicrophone = Marks(rawValue: 16384)
        /// The session has its camera, or has won it, beyond the budget, which does not bind the strongest app.
        package static let exceeds = Marks(rawValue: 32768)
    }

    /// Ids and counts: exploration does not hash them.
    package struct Ledger: Sendable, Codable, BitwiseCopyable {
        var sequence: UInt64 = 0
        var interruptions: InterruptionID = 0
        package var open: Interruption?
        package var announced: InterruptionID?
        package var recording: RecordingID?
        /// Unfinished files, the running recording's included.
        package var unfinished: UInt32 = 0
        /// The sharers of the client's last notice: a fingerprint of their names.
        var sharersTold: UInt64 = 0
        /// The app that controls its camera by the last notice of its access.
        var controllerTold: AppRef?

        package struct Interruption: Sendable, Codable, BitwiseCopyable {
            var id: InterruptionID
            package var began: Moment
            var causes: CauseSet
            /// The recording that it cut.
            var recording: RecordingID?
        }
    }
}

/// A session's configuration. Beside the plain row, because hardly any step reads it.
package struct SessionSettings: Hashable, Sendable, Codable {
    /// The client's whole configuration, whether or not it is in force yet.
    package var wanted = Configuration()
    /// The recorder's last order or report; a refused batch falls back to it.
    package var confirmed = Configuration()
    /// The configuration in force by the client's last notice; `nil`: the session never ran on this camera.
    package var heard: Configuration?
    /// Batches between `beginConfiguration` and `commitConfiguration`, merged.
    package var open = OpenBatch()
    /// The configurations of cameras that the session was switched away from, in the order of the switches; at most one
    /// for each.
    package var others: [Remembered] = []
    /// The rule's own words in the last notice of the interruption; `nil`: it had none.
    package var message: String?
    /// The session's picture by the last order of its present grant; `nil`: the camera's own.
    package var picture: Configuration?

    package struct Remembered: Hashable, Sendable, Codable {
        package var camera: Slot<Camera>
        package var wanted: Configuration
    }

    package init(wanted: Configuration = Configuration(), confirmed: Configuration = Configuration()) {
        self.wanted = wanted
        self.confirmed = confirmed
    }

    /// States in traces of 0.1 remember no other camera.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        wanted = try members.decode(Configuration.self, forKey: .wanted)
        confirmed = try members.decode(Configuration.self, forKey: .confirmed)
        heard = try members.decodeIfPresent(Configuration.self, forKey: .heard)
        open = try members.decode(OpenBatch.self, forKey: .open)
        message = try members.decodeIfPresent(String.self, forKey: .message)
        picture = try members.decodeIfPresent(Configuration.self, forKey: .picture)
        others = try members.decodeIfPresent([Remembered].self, forKey: .others) ?? []
    }

    package struct OpenBatch: Hashable, Sendable, Codable {
        package var depth = 0
        package var batch = Configuration()
    }
}

extension Session.Ledger {
    /// The announced interruption, or a new one.
    mutating func beginInterruption() -> InterruptionID {
        if let announced = announced.take() { return announced }
        interruptions += 1
        return interruptions
    }
}
