/// The bounds of the core, and why they are what they are.
public enum Bound {
    /// How long a recorder may take to confirm a cut: several frames at the slowest usual rate (5 fps
    /// in dim light is 200 ms a frame), and short enough that nobody takes the wait for a failure.
    public static let cut = Duration.milliseconds(500)
    /// How long a killed recorder may take to be gone before its camera counts as broken.
    public static let kill = Duration.seconds(2)
    /// How long a recorder may take from `open` to the first frame: slow UVC cameras take 3 s, and a laptop's that has to be
    /// woken a little more. One that takes longer has failed (cause 104).
    public static let firstFrame = Duration.seconds(10)
    /// Recorders in a row that died under one session and end it (semantics.md §3).
    public static let deathsMax = 5
    /// Frames for so long end a row of faults: what failed before is forgotten.
    public static let steady = Duration.seconds(10)
    /// First backoff after a fault; it doubles with each fault in a row: 0.25, 0.5, 1, 2 s …
    public static let firstBackoff = Duration.milliseconds(250)
    /// … up to this: a hub that is plugged in again after minutes is found within half of one.
    public static let backoffMax = Duration.seconds(30)
    /// How long facts stay as they were when the last presence source is gone (semantics.md §9, row 16).
    public static let sourceFreeze = Duration.seconds(5)
    /// How long a camera waits for its holder after the broker restarted (row 19).
    public static let reservation = Duration.seconds(2)
    /// How long a recorder core that captures already may take to answer `resume`, which only changes a name there: as
    /// long as the reservation before it. A recorder whose loop runs takes a tenth of it; one that takes longer hangs.
    public static let resume = Duration.seconds(2)
    /// The greatest grant and recording that a former broker can have counted to. What is beyond was never given, and
    /// counting on from there would have an end.
    public static let survivorMax: UInt64 = 1 << 62
    /// How long a user may think about an app: long enough to come back to the screen and read, and short enough that the app's
    /// user still knows what it is about (as portals do).
    public static let question = Duration.seconds(30)
    /// What is said of a user's apps: more apps than a machine has with cameras in mind, and some hundred kilobytes. So many
    /// again the permission store may deny.
    public static let answersMax = 1024
    /// Nested `beginConfiguration`: deeper is a client that lost count.
    public static let batchDepthMax = 16
    /// Apps that a trusted source may give attributes at a time: as many as a shell may place, and a few hundred kilobytes.
    public static let attributedAppsMax = 1024
    /// Attributes that a policy may declare, and values of each: a value is a byte of what rules read, and six bits of
    /// what the order list compares.
    public static let attributesMax = 8
    public static let attributeValuesMax = 64
    /// Modes that a policy may declare: six bits of what rules read hold these and none, and nobody keeps more in mind.
    public static let modesMax = 32
    /// Seats that the core tells apart, a bit each: a machine has one for each of its graphics cards, and logind's own names
    /// go no further. A camera on one beyond these is on nobody's seat.
    public static let seatsMax = 64
    /// Rules, cameras and ranks of a policy.
    public static let rulesMax = 256
    public static let camerasMax = 64
    public static let ranksMax = 64

    /// Faults in a row beyond these change no wait any more: seven doublings pass the longest one.
    package static let faultsCounted: UInt8 = 8

    /// The wait after so many faults in a row, from 1.
    package static func backoff(after faults: UInt8) -> Duration {
        min(firstBackoff * (1 << Int(min(max(faults, 1), faultsCounted) - 1)), backoffMax)
    }
}
