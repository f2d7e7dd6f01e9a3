/// What happened to the sessions of one user, or of everybody.
public struct Counts: Hashable, Sendable {
    /// Sessions that began to run, by camera.
    public var grants = Tally()
    /// By the cause that was told as the reason.
    public var interruptions = Tally()
    /// Terminal stops, by reason.
    public var stops = Tally()
    /// Requests that a rule refused, by rule.
    public var refusals = Tally()
    /// Recordings that ended, by why.
    public var recordings = Tally()
    /// `taken` and `failed`.
    public var photos = Tally()
    /// From a start request to the first frame.
    public var waits = Histogram.waits
    /// Of interruptions, from beginning to end.
    public var interruptionLengths = Histogram.waits
    /// From the order to cut the camera's last holder to the first frame of the next.
    public var handovers = Histogram.handovers

    public init() {}

    public mutating func add(_ other: Counts) {
        grants.add(other.grants)
        interruptions.add(other.interruptions)
        stops.add(other.stops)
        refusals.add(other.refusals)
        recordings.add(other.recordings)
        photos.add(other.photos)
        waits.add(other.waits)
        interruptionLengths.add(other.interruptionLengths)
        handovers.add(other.handovers)
    }
}
