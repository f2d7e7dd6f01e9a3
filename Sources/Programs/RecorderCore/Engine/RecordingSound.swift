import ArbiterProtocol

/// The sound of one recording, from its microphone into its file.
///
/// The file begins with its first picture, whether there is sound or not: real microphones need a few tenths of a second until
/// they give any. Late or missing sound is silence, and a picture never waits for longer than `SoundTimeline.latest`.
/// An encoder that fails costs the rest of the sound, and not the picture.
/// Threading: the writer thread only.
final class RecordingSound {
    private let microphone: Microphone
    private let encoder: SoundEncoder
    /// `nil` before the file begins.
    private var timeline: SoundTimeline?
    /// When the file began, while no sound has come since the microphone was attached: nanoseconds of CLOCK_MONOTONIC.
    private var silentSince: Int64?
    private var hasToldLate = false
    private(set) var failure: MediaFault?

    /// A microphone that has sent nothing for so much of the file is reported, in nanoseconds.
    static let silenceMax: Int64 = 1_000_000_000

    init(_ microphone: Microphone) throws(MediaFault) {
        self.microphone = microphone
        encoder = try SoundEncoder(sourceRate: microphone.sampleRate, channels: microphone.channels)
    }

    var track: RecordingFile.SoundTrack { encoder.track }

    /// The file begins at this moment, of CLOCK_MONOTONIC: earlier sound is not in it.
    func begin(at captured: Int64) {
        timeline = SoundTimeline(
            sourceRate: microphone.sampleRate, fileRate: encoder.sampleRate, channels: microphone.channels,
            beginningAt: captured)
        silentSince = captured
    }

    /// The picture has come to this moment. Returns false when the file has come to its end.
    func advance(to captured: Int64, into file: RecordingFile) -> Bool {
        takePackets()
        guard let pieces = timeline?.advance(to: captured) else { return true }
        if let timeline, timeline.framesLate > 0, !hasToldLate {
            hasToldLate = true
            microphone.report(.late(most: SoundTimeline.latest))
        }
        if microphone.firstTime != nil { silentSince = nil }
        if let since = silentSince, captured - since >= Self.silenceMax {
            silentSince = nil
            microphone.report(.silent(for: Self.silenceMax))
        }
        return put(pieces, into: file)
    }

    func pause(at moment: Int64) { timeline?.pause(at: moment) }
    func resume(at moment: Int64) { timeline?.resume(at: moment) }

    /// The file ends at this moment: its sound is as long as its picture.
    func end(at moment: Int64, into file: RecordingFile) {
        takePackets()
        guard let pieces = timeline?.end(at: moment) else { return }
        timeline = nil
        guard put(pieces, into: file), failure == nil else { return }
        do throws(MediaFault) {
            try encoder.finish { (packet) throws(MediaFault) in
                _ = try file.appendSound(packet.bytes, at: packet.time, duration: packet.duration)
            }
        } catch { failure = error }
    }

    private func takePackets() {
        guard timeline != nil else { return }
        for packet in microphone.take() { timeline?.take(packet) }
    }

    private func put(_ pieces: [SoundTimeline.Piece], into file: RecordingFile) -> Bool {
        var isOpen = true
        if failure == nil {
            do throws(MediaFault) {
                for piece in pieces where isOpen {
                    try encoder.encode(piece) { (packet) throws(MediaFault) in
                        guard isOpen else { return }
                        isOpen = try file.appendSound(packet.bytes, at: packet.time, duration: packet.duration)
                    }
                }
                return isOpen
            } catch { failure = error }
        }
        // Without sound no picture waits for it.
        return (try? file.soundIsComplete(upTo: .max)) ?? false
    }
}
