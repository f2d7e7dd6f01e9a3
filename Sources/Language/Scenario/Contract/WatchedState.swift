import Arbiter
package import ArbiterProtocol

extension ContractMonitor {
    /// Equality and hash see its ids, its marks and how many files are not finished.
    package struct Watched: Hashable, Sendable {
        package let session: SessionID
        package let client: ClientID
        var marks: SessionMarks = .exists
        var unfinished = 0

        // Not part of equality.
        var sequence: UInt64 = 0
        var interruption: InterruptionID = 0
        var lastInterruption: InterruptionID = 0
        var warning: InterruptionID = 0
        var recording: RecordingID?
        /// How often `ConfigurationApplied` may still name the client: once for each batch that it asked for, and once
        /// for each that was ordered without its asking. Rather too many than too few: batches are merged.
        var batchesDue: UInt32 = 0
        /// Bids have to wait until then; `.zero` where they need not, or where it is not known.
        var minHoldUntil = Moment.zero
        /// The deadline of its warning, and whether it answered that.
        var warnedUntil = Moment.zero
        var isReady = false
        var isLost = false

        package var mark: UInt64 { UInt64(marks.rawValue) | UInt64(unfinished) << 5 }
        var isRunning: Bool { marks.contains(.running) }
        var isInterrupted: Bool { marks.contains(.interrupted) }
        var isWarned: Bool { marks.contains(.warned) }
        var isRecording: Bool { marks.contains(.recording) }
        var isClosed: Bool { marks.contains(.closed) }
        func isInterrupted(_ id: InterruptionID) -> Bool { isInterrupted && interruption == id }

        package static func == (a: Self, b: Self) -> Bool {
            a.session == b.session && a.client == b.client && a.mark == b.mark
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(session)
            hasher.combine(client)
            hasher.combine(mark)
        }
    }

    struct SessionMarks: OptionSet, Hashable, Sendable {
        let rawValue: UInt32
        static let exists = SessionMarks(rawValue: 1)
        static let running = SessionMarks(rawValue: 2)
        static let interrupted = SessionMarks(rawValue: 4)
        static let warned = SessionMarks(rawValue: 8)
        static let recording = SessionMarks(rawValue: 16)
        /// Only the end of a file may follow. Above the count of those, which `mark` has from bit 5 on.
        static let closed = SessionMarks(rawValue: 1 << 18)
    }

    /// A camera that was there. Its grants are not part of equality.
    package struct WatchedCamera: Hashable, Sendable {
        package let camera: CameraID
        var grant: GrantID
        package var marks: CameraMarks = []
        /// Of a grant that outlived another broker: the recording that its session takes up with it.
        var recording: RecordingID?

        package static func == (a: Self, b: Self) -> Bool { a.camera == b.camera && a.marks == b.marks }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(camera)
            hasher.combine(marks)
        }
    }

    package struct CameraMarks: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        static let open = CameraMarks(rawValue: 1)
        static let cutting = CameraMarks(rawValue: 2)
        /// A process got orders, and is not gone.
        static let hasRecorder = CameraMarks(rawValue: 4)
        /// Open for a grant of another broker, which nobody has reclaimed yet; and recording for it.
        static let survives = CameraMarks(rawValue: 8)
        static let survivorRecords = CameraMarks(rawValue: 16)
    }

    struct File: Hashable, Sendable {
        var recording: RecordingID
        var session: SessionID
    }

    /// No sentence is made before it is needed.
    struct Findings {
        private(set) var sentences: [String] = []

        mutating func unless(_ condition: Bool, _ sentence: @autoclosure () -> String) {
            if !condition { sentences.append(sentence()) }
        }

        mutating func unless(
            _ condition: Bool, _ session: SessionID, _ notice: SessionEvent, _ what: @autoclosure () -> String
        ) { if !condition { sentences.append("session \(session.rawValue): \(notice.wireName) \(what())") } }
    }
}
