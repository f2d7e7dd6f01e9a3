import ArbiterProtocol

/// The sound of one recording, from its microphone into its file.
///
/// The file begins when there is both, and what comes late or not at all is silence: the picture never waits for longer
/// than `SoundTimeline.latest`. An encoder that fails costs the rest of the sound, and not the picture.
///
/// Threading: the writer thread only.
final class RecordingSound {
    private let microphone: Microphone
    private let encoder: SoundEncoder
    /// Nil before the file begins.
    private var timeline: SoundTimeline?
    /// What came before the file began.
    private var early: [SoundPacket] = []
    /// The first frame that found no sound.
    private var waitsSince: Int64?
    private var hasToldLate = false
    private(set) var failure: MediaFault?

    /// How long a file waits for its microphone's first sound before it begins with silence, in nanoseconds.
    static let beginningWaitMax: Int64 = 1_000_000_000

    init(_ microphone: Microphone) throws(MediaFault) {
        self.microphone = microphone
        encoder = try SoundEncoder(sourceRate: microphone.sampleRate, channels: microphone.channels)
    }

    var track: RecordingFile.SoundTrack {
        RecordingFile.SoundTrack(
            sampleRate: Int32(encoder.sampleRate), channels: Int32(encoder.channels),
            configuration: encoder.configuration, primingFrames: encoder.primingFrames, bitRate: encoder.bitRate)
    }

    /// Whether the file may begin with a frame; it begins with the first for which it may.
    /// - Parameter captured: of the frame, in nanoseconds of CLOCK_MONOTONIC.
    func mayBegin(at captured: Int64) -> Bool {
        early += microphone.take()
        early.removeAll { captured - $0.time > Self.beginningWaitMax }
        // A camera may deliver a frame so late that the first sound is of later.
        let hasCome = microphone.firstTime.map { $0 <= captured } ?? false
        let comes = early.contains { captured - $0.time <= SoundTimeline.latest }
        let since = waitsSince ?? captured
        waitsSince = since
        return hasCome && comes || captured - since >= Self.beginningWaitMax
    }

    /// The file begins at this moment.
    func begin(at captured: Int64) {
        var timeline = SoundTimeline(
            sourceRate: microphone.sampleRate, fileRate: encoder.sampleRate, channels: microphone.channels,
            beginningAt: captured)
        for packet in early { timeline.take(packet) }
        if early.isEmpty { microphone.report(.silent(for: Self.beginningWaitMax)) }
        early = []
        self.timeline = timeline
    }

    /// The picture has come to this moment.
    /// - Returns: false when the file has come to its end.
    func advance(to captured: Int64, into file: RecordingFile) -> Bool {
        guard var timeline else { return true }
        for packet in microphone.take() { timeline.take(packet) }
        let pieces = timeline.advance(to: captured)
        if timeline.framesLate > 0, !hasToldLate {
            hasToldLate = true
            microphone.report(.late(most: SoundTimeline.latest))
        }
        self.timeline = timeline
        return put(pieces, into: file)
    }

    func pause(at moment: Int64) { timeline?.pause(at: moment) }
    func resume(at moment: Int64) { timeline?.resume(at: moment) }

    /// The file ends at this moment: its sound is as long as its picture.
    func end(at moment: Int64, into file: RecordingFile) {
        guard var timeline else { return }
        for packet in microphone.take() { timeline.take(packet) }
        let pieces = timeline.end(at: moment)
        self.timeline = nil
        guard put(pieces, into: file), failure == nil else { return }
        do throws(MediaFault) {
            try encoder.finish { (packet) throws(MediaFault) in
                _ = try file.appendSound(packet.bytes, at: packet.time, duration: packet.duration)
            }
        } catch {
            failure = error
        }
    }

    private func put(_ pieces: [SoundTimeline.Piece], into file: RecordingFile) -> Bool {
        guard failure == nil else { return letPicturesGo(file) }
        var isOpen = true
        do throws(MediaFault) {
            for piece in pieces where isOpen {
                try encoder.encode(piece) { (packet) throws(MediaFault) in
                    guard isOpen else { return }
                    isOpen = try file.appendSound(packet.bytes, at: packet.time, duration: packet.duration)
                }
            }
        } catch {
            failure = error
            return letPicturesGo(file)
        }
        return isOpen
    }

    /// No sound comes any more.
    private func letPicturesGo(_ file: RecordingFile) -> Bool {
        (try? file.soundIsComplete(upTo: .max)) ?? false
    }
}
