import RecorderCore

/// What the next broker is told of the grant that is open: its number, its recordings, and events that nobody heard. A
/// value without any I/O. An event that was sent to a broker may have reached none that acted on it: the end of the
/// last recording is kept, and told again to the next broker, which knows by its number whether that is news.
struct GrantMemory {
    /// Events kept while there is no broker: the ends of recordings and photos of one grant, and what a failing device says
    /// in a few seconds. What comes then is left out.
    static let untoldMax = 64

    /// Open, and not being cut.
    private(set) var grant: UInt64?
    private var running: [UInt64] = []
    private var lastEnd: RecorderEvent?
    /// As it was last told, where it is not as usual.
    private var device: RecorderEvent?
    private var untold: [RecorderEvent] = []

    mutating func opened(_ grant: UInt64) {
        self.grant = grant
        lastEnd = nil
    }

    mutating func cut(_ grant: UInt64) { if self.grant == grant { self.grant = nil } }

    /// It is ordered: whoever asks before it has begun is told of it, too.
    mutating func begun(_ recording: UInt64) { running.append(recording) }
    mutating func refused(_ recording: UInt64) { running.removeAll { $0 == recording } }

    /// Those that run, and the one whose end is told again.
    var recordings: [UInt64] {
        var all = running
        for event in untold + [lastEnd].compactMap(\.self) {
            if case .recordingFinished(let end) = event, !all.contains(end.id) { all.append(end.id) }
        }
        return all
    }

    mutating func tells(_ event: RecorderEvent, now: Bool) -> Bool {
        switch event {
        case .recordingFinished(let end):
            running.removeAll { $0 == end.id }
            lastEnd = event
        case .deviceChanged(let state, _): device = state == "ok" ? nil : event
        default: break
        }
        if !now, untold.count < Self.untoldMax { untold.append(event) }
        return now
    }

    mutating func takeUntold() -> [RecorderEvent] {
        var told = untold
        untold = []
        for event in [device, lastEnd].compactMap(\.self) where !told.contains(event) { told.append(event) }
        return told
    }
}
