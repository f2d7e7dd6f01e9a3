/// The bounds of the core, with their reasons.
public enum Bound {
    /// The time of a recorder to confirm a cut: several frames at the slowest usual rate (5 fps in dim light is 200 ms
    /// a frame), and short enough that nobody takes the wait for a failure.
    public static let cut = Duration.milliseconds(500)
    /// The time of a killed recorder to end before its camera counts as broken.
    public static let kill = Duration.seconds(2)
    /// The time of a recorder from `open` to the first frame: slow UVC cameras take 3 s, and a sleeping laptop camera a
    /// little more. A slower recorder has failed (cause 104).
    public static let firstFrame = Duration.seconds(10)
    /// Recorders in a row that died under one session and end it (semantics.md §3).
    public static let deathsMax = 5
    /// Frames for this long end a row of faults.
    public static let steady = Duration.seconds(10)
    /// First backoff after a fault; it doubles with each fault in a row: 0.25, 0.5, 1, 2 s …
    public static let firstBackoff = Duration.milliseconds(250)
    /// … up to this: a hub that is plugged in again after minutes is found within half a minute.
    public static let backoffMax = Duration.seconds(30)
    /// The time for which facts stay after the last presence source has gone (semantics.md §9, row 16).
    public static let sourceFreeze = Duration.seconds(5)
    /// The time for which a camera waits for its holder after the broker restarted (row 19).
    public static let reservation = Duration.seconds(2)
    /// The time of a capturing recorder core to answer `resume`, which only changes a name there: as long as the
    /// reservation before it. A working recorder takes a tenth of it; a slower one hangs.
    public static let resume = Duration.seconds(2)
    /// The greatest grant and recording that a former broker can have counted to. A greater number was never given, and
    /// counting on from there would have an end.
    public static let survivorMax: UInt64 = 1 << 62
    /// The time of a user to answer a question: long enough to come back to the screen and read, and short enough to
    /// remember the app's request (as portals do).
    public static let question = Duration.seconds(30)
    /// Answers about a user's apps: more apps than a machine has with cameras in mind, and some hundred kilobytes. The
    /// permission store may deny as many again.
    public static let answersMax = 1024
    /// Nested `beginConfiguration`: a deeper client lost count.
    public static let batchDepthMax = 16
    /// Apps that a trusted source may give attributes at a time: as many as a shell may place, and a few hundred
    /// kilobytes.
    public static let attributedAppsMax = 1024
    /// Attributes that a policy may declare, and values of each: a value is a byte of the facts that rules read, and
    /// six bits of the order list's comparison.
    public static let attributesMax = 8
    public static let attributeValuesMax = 64
    /// Modes that a policy may declare: six bits of the facts hold these and none, and nobody keeps more in mind.
    public static let modesMax = 32
    /// Seats that the core tells apart, a bit each: a machine has one for each of its graphics cards, and logind's own
    /// names go no further. A camera beyond these is on nobody's seat.
    public static let seatsMax = 64
    /// Sharers of one camera: a stream of each at 1080p takes some 12 MB of buffers, and the recorder core has 64
    /// streams.
    public static let sharersMax = 32
    /// The time for which a shared camera keeps a format that it took for a sharer's wish: a change of format costs every
    /// session on it some frames, and nobody sees more than one in two seconds as a picture.
    public static let formatKept = Duration.seconds(2)
    /// Recordings of one camera at a time. Each takes four of the tasks of its recorder core's unit at most (its thread,
    /// two of its encoder's, and the process that writes its file): eight of them have half of the 64 that there are
    /// (`TasksMax` of camrecorder@.service).
    public static let recordingsMax = 8
    /// Batches that a camera's recorder core has not answered: more than come while it changes its format, which takes
    /// long. Each order of a session's picture goes over all of them.
    public static let batchesMax = 256
    /// Rules, cameras and ranks of a policy.
    public static let rulesMax = 256
    public static let camerasMax = 64
    public static let ranksMax = 64

    /// More faults in a row change no wait any more: seven doublings pass the longest one.
    package static let faultsCounted: UInt8 = 8

    /// - Parameter faults: in a row, from 1.
    package static func backoff(after faults: UInt8) -> Duration {
        min(firstBackoff * (1 << Int(min(max(faults, 1), faultsCounted) - 1)), backoffMax)
    }
}
