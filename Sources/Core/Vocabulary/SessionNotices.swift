/// An announced interruption, unless it is withdrawn.
public struct InterruptionWarning: Hashable, Sendable {
    public var id: InterruptionID
    public var cause: Cause
    /// On `CLOCK_MONOTONIC`.
    public var deadline: Moment
    /// The policy's rule, by name.
    public var rule: String
    /// The rule's own words for the person in front of the app; empty: it has none.
    public var message: String

    public init(
        id: InterruptionID = 0, cause: Cause = .videoDeviceInUseByAnotherClient, deadline: Moment = .zero,
        rule: String = "", message: String = ""
    ) {
        (self.id, self.cause, self.deadline, self.rule, self.message) = (id, cause, deadline, rule, message)
    }
}

public struct Interruption: Hashable, Sendable {
    public var id: InterruptionID
    public var causes: CauseSet
    /// The app that took the camera or stands in the way now, as far as the client may know; `nil`: none.
    public var interrupter: Interrupter?
    /// The recording that the interruption cut, at its beginning.
    public var recording: RecordingID?
    /// The policy's rule, by name.
    public var rule: String
    /// The rule's own words for the person in front of the app; empty: it has none.
    public var message: String

    public init(
        id: InterruptionID = 0, causes: CauseSet = CauseSet(), interrupter: Interrupter? = nil,
        recording: RecordingID? = nil, rule: String = "", message: String = ""
    ) {
        (self.id, self.causes, self.interrupter) = (id, causes, interrupter)
        (self.recording, self.rule, self.message) = (recording, rule, message)
    }

    /// The most telling of its causes; `nil` only if the broker sent an empty set.
    public var reason: Cause? { causes.reason }
    /// Whether the client itself must act (`continue`) before the session can run again.
    public var needsAction: Bool { causes.contains(.sensitiveContentMitigationActivated) }
}

public struct InterruptionEnd: Hashable, Sendable {
    public var id: InterruptionID
    /// All causes during the interruption.
    public var causes: CauseSet
    public var duration: Duration
    /// False when `stopRunning` ended it.
    public var willResume: Bool
    /// The recording that the interruption cut: none goes on by itself.
    public var recording: RecordingID?

    public init(
        id: InterruptionID = 0, causes: CauseSet = CauseSet(), duration: Duration = .zero, willResume: Bool = false,
        recording: RecordingID? = nil
    ) {
        (self.id, self.causes, self.duration) = (id, causes, duration)
        (self.willResume, self.recording) = (willResume, recording)
    }
}

/// Another access, without an interruption.
public struct AccessChange: Hashable, Sendable {
    public var access: Access
    public var causes: CauseSet
    public var rule: String
    /// The rule's own words for the person in front of the app; empty: it has none.
    public var message: String
    /// The app that controls the shared camera beside this session, as far as the client may know; `nil`: none does.
    public var controller: Interrupter?

    public init(
        _ access: Access = .none, causes: CauseSet = CauseSet(), rule: String = "", message: String = "",
        controller: Interrupter? = nil
    ) {
        (self.access, self.causes, self.rule, self.message) = (access, causes, rule, message)
        self.controller = controller
    }
}

/// A terminal stop.
public struct SessionStop: Hashable, Sendable {
    public var reason: StopReason
    public var rule: String
    /// The rule's own words for the person in front of the app; empty: it has none.
    public var message: String

    public init(_ reason: StopReason = .evicted, rule: String = "", message: String = "") {
        (self.reason, self.rule, self.message) = (reason, rule, message)
    }
}

/// A configuration that took effect.
public struct ConfigurationChange: Hashable, Sendable {
    public var asked: Configuration
    /// The whole configuration in force; differs from `asked` where the nearest supported value was taken.
    public var inForce: Configuration
    public var by: Applier

    public init(asked: Configuration = Configuration(), inForce: Configuration = Configuration(), by: Applier = .client)
    {
        (self.asked, self.inForce, self.by) = (asked, inForce, by)
    }
}

/// An output that a session opens or declares, and has to again where its connection to a camera is severed. Photos
/// need no opening, and a recording keeps its camera.
public enum SessionOutput: String, Hashable, Sendable, CaseIterable {
    case preview
    /// `AttachMicrophone`.
    case microphone
    /// The kinds of timed metadata that a recording named.
    case metadata
}

/// An app that took the camera, holds it or watches it, as far as the notified client may know.
public enum Interrupter: Hashable, Sendable {
    case app(String)
    case anotherUsersApp
    /// A program with the camera outside of the broker, as far as it is known: it never interrupts a session.
    case outside(String)

    /// Before a program's name on the wire. No name that the kernel vouches for begins so; a claimed one could.
    public static let outsidePrefix = "outside: "

    public var description: String {
        switch self {
        case .app(let name): name
        case .anotherUsersApp: "another user's app"
        case .outside(let program): Self.outsidePrefix + program
        }
    }

    /// The word on the wire; `""` there means that nobody is named.
    public var wireName: String { description }

    /// `nil` for `""`.
    public init?(wireName: String) {
        guard !wireName.isEmpty else { return nil }
        if wireName == Interrupter.anotherUsersApp.wireName {
            self = .anotherUsersApp
        } else if wireName.hasPrefix(Self.outsidePrefix) {
            self = .outside(String(wireName.dropFirst(Self.outsidePrefix.count)))
        } else {
            self = .app(wireName)
        }
    }
}

/// The reason of a stop for good. Not a cause: the client may start again.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
    case evicted
    case leaseExpired = "lease-expired"
    case deniedByPolicy = "denied-by-policy"
    case configurationLost = "configuration-lost"
    case recorderFailed = "recorder-failed"
    /// The user stopped the app; nothing starts it again by itself.
    case stoppedByUser = "stopped-by-user"
    /// The user denied the app, or did not answer in time.
    case deniedByUser = "denied-by-user"
}

/// The origin of a configuration change.
public enum Applier: String, Hashable, Sendable, Codable, CaseIterable {
    /// The session's own client.
    case client
    /// The session's own configuration was restored when it ran again.
    case resumption
    /// Another session that shares the camera.
    case sharer
}

/// The reason of a recording's end.
public enum RecordingEnd: String, Hashable, Sendable, CaseIterable {
    case stopped
    case interrupted
    case accessLost = "access-lost"
    case durationLimit = "duration-limit"
    case sizeLimit = "size-limit"
    case diskFull = "disk-full"
    case writeError = "write-error"
    case recorderReset = "recorder-reset"
    case sessionEnded = "session-ended"
}

/// A recording's end: its file is playable and has exactly these frames. Figures that are not known are `nil`: a file
/// may have frames then.
public struct RecordingFinished: Hashable, Sendable {
    public var recording: RecordingID
    public var why: RecordingEnd
    public var frames: UInt64?
    /// From the first frame's capture to the end of the last frame's display.
    public var duration: Duration?
    public var bytes: UInt64?
    /// The condition of the next chance to record: `now`, `when-interruption-ends`, `when-access-returns`,
    /// `after-start`.
    public var nextChance: NextChance
    /// Frames missing in the file because the encoder or the disk could not keep up, or the decoding of footage that is
    /// the camera.
    public var framesLeftOut: UInt64 = 0
    /// The capture of the file's last frame, by CLOCK_MONOTONIC; `nil`: there is none, or it is not known.
    public var lastCapture: Moment?
    /// The reason of the interruption, or of the access that was lost; `nil`: the client ended it, or it ended by
    /// itself.
    public var cause: Cause?
    /// The app behind the cause, as far as the client may know.
    public var interrupter: Interrupter?

    public enum NextChance: String, Hashable, Sendable, CaseIterable {
        case now
        case whenInterruptionEnds = "when-interruption-ends"
        case whenAccessReturns = "when-access-returns"
        case afterStart = "after-start"
    }

    public init(
        recording: RecordingID = 0, why: RecordingEnd = .stopped, frames: UInt64? = nil, duration: Duration? = nil,
        bytes: UInt64? = nil, nextChance: NextChance = .now
    ) {
        (self.recording, self.why, self.frames) = (recording, why, frames)
        (self.duration, self.bytes, self.nextChance) = (duration, bytes, nextChance)
    }
}

/// A photo that was written whole, or the sentence about its failure.
public struct PhotoCaptured: Hashable, Sendable {
    public var photo: PhotoID
    public var width: UInt32
    public var height: UInt32
    public var bytes: UInt64
    /// `nil` when the JPEG was written whole.
    public var error: String?
    /// The conditions of the photo; `nil` where they are not known, as of a photo that failed.
    public var metadata: PhotoMetadata?

    public init(
        photo: PhotoID = 0, width: UInt32 = 0, height: UInt32 = 0, bytes: UInt64 = 0, error: String? = nil,
        metadata: PhotoMetadata? = nil
    ) {
        (self.photo, self.width, self.height) = (photo, width, height)
        (self.bytes, self.error, self.metadata) = (bytes, error, metadata)
    }
}
