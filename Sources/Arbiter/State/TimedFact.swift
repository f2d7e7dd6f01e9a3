package import Vocabulary

/// Something that ends by itself and belongs to no tenancy: one flat list of all of them.
package struct TimedFact: Hashable, Sendable, Codable, BitwiseCopyable {
    package enum Kind: UInt8, Hashable, Sendable, Codable, BitwiseCopyable {
        /// After a restart of the broker the camera is kept for the app that held it.
        case reservation
        /// The device failed, or its recorder died: it is tried again when this ends.
        case backoff
        /// The session's own format found no room; others may have the camera meanwhile.
        case noRoom
        /// A stream was ordered closed while its camera goes on: the recorder is killed at the end.
        case closing
        /// The app lost the camera by lease or eviction, and ranks behind all that wait.
        case coolDown
        /// How much of its lease the app has used on this camera (`amount`, nanoseconds). It has no end while the app asks
        /// for the camera; once it has left, a new lease begins at the end.
        case leaseUsed
        /// A lower pressure, which counts once it has lasted until then.
        case falling
        /// A recorder core that outlived the broker was told whose it is now: it is killed if it has not answered by
        /// then.
        case resuming
        /// The app's user is asked about it: no answer until then is a no.
        case question
    }

    package let kind: Kind
    package var due: Moment
    package var camera: Slot<Camera>?
    package var session: Slot<Session>?
    package var app: AppRef?
    package var amount: Int64 = 0

    init(
        _ kind: Kind, until due: Moment, camera: Slot<Camera>? = nil, session: Slot<Session>? = nil,
        app: AppRef? = nil, amount: Int64 = 0
    ) {
        self.kind = kind
        self.due = due
        self.camera = camera
        self.session = session
        self.app = app
        self.amount = amount
    }
}
