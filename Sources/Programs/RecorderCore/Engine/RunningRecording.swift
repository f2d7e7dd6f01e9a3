import ArbiterProtocol
import FrameStream

/// The writer's view of a recording: its file, the moments that are in it, its sound and its metadata. Threading: the writer
/// thread only.
final class RunningRecording {
    struct Order: Sendable {
        /// An envelope, the recording's to close.
        let file: Int32
        let layout: PictureLayout
        let frameRate: Double
        let options: RecordingOptions
        /// The grant's; `nil` for a recording without sound.
        let microphone: Microphone?
        /// As Exif numbers it, at the beginning.
        let orientation: UInt8
        /// When it was ordered, in nanoseconds of CLOCK_MONOTONIC: its first frame is captured after that.
        let ordered: Int64
    }

    let ticket: RecordingTicket
    private let order: Order
    private let output: OutputFile
    /// `nil` where even the header could not be written.
    private var file: RecordingFile?
    private var sound: RecordingSound?
    private var clock = FileClock()
    private var metadata: MetadataGroups
    private var lastSamples: [String: String] = [:]
    /// Samples that wait for the file's first moment.
    private var early: [(kind: String, sample: String)] = []
    private var tags: [RecordingTag: String] = [:]
    /// Frames that may not be in the file yet: where they end in it, and when they were captured.
    private var recent: [(end: Int64, captured: Int64)] = []
    private var lastCapture: Int64 = 0
    private var lookedForRoom: Int64?

    /// Nanoseconds between two looks at how much room there is, of captured time.
    static let roomEvery: Int64 = 1_000_000_000
    /// Metadata may be of so many nanoseconds before the recording was ordered here, and counts from the file's beginning: a
    /// client sends its location once it has the answer, and the order may still be on its way.
    static let earlyMax: Int64 = 1_000_000_000

    /// Why a recording ended, with a clause for people where that is more than a word.
    struct End: Error {
        let why: RecordingEnd
        var words: String?
    }

    init(_ ticket: RecordingTicket, _ order: Order, in house: FileWriters) {
        (self.ticket, self.order) = (ticket, order)
        metadata = MetadataGroups(order.options.metadata)
        output = OutputFile(order.file, in: house, bytesMax: order.options.maxBytes.map { Int64(clamping: $0) })
    }

    /// - Throws: where the file cannot be written to, or an encoder cannot be had.
    func begin() throws(End) {
        if output.failure != nil { throw end(isBeginning: true) }
        do throws(MediaFault) {
            let sound = try order.microphone.map { (microphone) throws(MediaFault) in try RecordingSound(microphone) }
            let plan = RecordingFile.Plan(
                layout: order.layout, frameRate: order.frameRate, fileType: order.options.fileType ?? .matroska,
                codec: order.options.codec, bitRate: order.options.bitRate.map { Int64($0) }, sound: sound?.track,
                metadata: order.options.metadata.map(\.kind), orientation: Int(order.orientation))
            file = try RecordingFile(file: output, plan)
            self.sound = sound
        } catch { throw end(error, isBeginning: true) }
        if output.failure != nil { throw end() }
    }

    // MARK: Frames and metadata

    /// Takes a frame, in the order of capture.
    /// - Parameter interval: how long it is shown if no further one comes, in nanoseconds.
    func take(_ picture: KeptPicture, interval: Int64, _ facts: FrameFacts) throws(End) {
        guard let file else { return }
        let captured = picture.captured
        if let most = order.options.maxDuration {
            // A microsecond of grace: a limit of 2 s holds 60 frames of 30 a second.
            let end = clock.placeOfFrame(captured: captured) + interval
            if Double(end) / 1e9 > most + 1e-6 { throw End(why: .durationLimit) }
        }
        try lookForRoom(at: captured)
        let segments = clock.segments.count
        let time = clock.frame(captured: captured, interval: interval)
        recent.append((time + interval, captured))
        if clock.segments.count > segments { began(with: captured) }
        try goingOn { (file) throws(MediaFault) in
            for (kind, sample) in early { _ = try file.appendMetadata(kind: kind, sample, at: time) }
            early = []
            try write(facts, at: time, in: file)
            guard try file.appendPicture(picture.bytes, at: time, interval: interval) else { return false }
            return sound?.advance(to: captured, into: file) ?? true
        }
        noteWritten(file)
    }

    /// Leaves a frame out of the file of a paused recording: sound from before the pause may still come.
    func pass(captured: Int64) throws(End) {
        guard let sound, clock.hasBegun else { return }
        try goingOn { (file) in sound.advance(to: captured, into: file) }
    }

    func pause() {
        clock.pause()
        if clock.hasBegun { sound?.pause(at: clock.lastEnd) }
    }

    func resume() { clock.resume() }

    /// Takes a client's group of metadata.
    /// - Parameter time: from when on it counts, in nanoseconds of CLOCK_MONOTONIC.
    func append(_ kind: String, at time: Int64, _ items: [String], now: Int64) throws(BrokerError) {
        guard file != nil else { throw BrokerError(.notRecording, "The recording has ended.") }
        let earliest = order.ordered - Self.earlyMax
        guard time >= earliest, time <= now else {
            throw BrokerError(
                .invalidValue,
                "time of \(kind) is \(time), which is outside the recording; it takes \(earliest) to \(now).")
        }
        guard let place = clock.firstCapture.map({ time < $0 }) ?? true ? 0 : clock.place(of: time) else {
            throw BrokerError(
                .invalidValue,
                "time of \(kind) is \(time), when the recording was paused; it takes a time that is in the file.")
        }
        let sample = try metadata.take(kind: kind, time: time, items: items, arrivedAt: now)
        if kind == MetadataTrack.location, tags[.location] == nil, let first = items.first {
            tags[.location] = first
            if clock.hasBegun { file?.setTags(tags) }
        }
        if clock.hasBegun {
            // A file that has come to its end fails with its next frame.
            _ = try? file?.appendMetadata(kind: kind, sample, at: place)
        } else {
            early.append((kind, sample))
        }
    }

    func finish(_ why: RecordingEnd, _ reason: RecordingReason) -> RecorderEvent.Recording {
        ticket.end()
        if let file {
            sound?.end(at: clock.lastEnd, into: file)
            file.finish()
            noteWritten(file)
            tags[.lastCapture] = file.frames > 0 ? String(lastCapture) : nil
            tags[.ended] = why.rawValue
            tags[.cause] = reason.cause
            tags[.interrupter] = reason.interrupter
            tags[.framesLeftOut] = String(ticket.framesLeftOut)
            file.setTags(tags)
        }
        return RecorderEvent.Recording(
            id: ticket.id, why: why, frames: file?.frames ?? 0, duration: file?.duration ?? 0,
            bytes: UInt64(output.committed), lastCapture: lastCapture, framesLeftOut: ticket.framesLeftOut)
    }

    func takeSoundFault() -> String? {
        guard let fault = sound?.failure else { return nil }
        // The rest is silence, which needs no sound.
        sound = nil
        return fault.description
    }

    // MARK: The file

    private func goingOn(_ write: (RecordingFile) throws(MediaFault) -> Bool) throws(End) {
        guard let file else { return }
        do throws(MediaFault) { if try write(file) { return } } catch { throw end(error) }
        throw end()
    }

    /// The end that a failed write means: the file's own failure comes before libav's, which follows from it.
    private func end(_ fault: MediaFault? = nil, isBeginning: Bool = false) -> End {
        guard let failure = output.failure else {
            let verb = isBeginning ? "cannot begin" : "broke off"
            return End(why: .writeError, words: fault.map { "\(verb): \($0.description)" })
        }
        if failure == .sizeLimit { return End(why: .sizeLimit) }
        return End(
            why: failure.isFull ? .diskFull : .writeError,
            words: isBeginning ? "cannot begin: \(failure.words)" : nil)
    }

    private func began(with captured: Int64) {
        if clock.segments.count == 1 {
            tags[.firstCapture] = String(captured)
            sound?.begin(at: captured)
        } else {
            sound?.resume(at: captured)
            let pauses = clock.pauses.map { "[\($0.at),\($0.length)]" }
            tags[.pauses] = "[\(pauses.joined(separator: ","))]"
        }
        file?.setTags(tags)
    }

    private func write(_ facts: FrameFacts, at time: Int64, in file: RecordingFile) throws(MediaFault) {
        for track in order.options.metadata where !track.isOfTheClient {
            let sample = track.type == .objects ? facts.objectSample : facts.orientationSample
            guard lastSamples[track.kind] != sample else { continue }
            lastSamples[track.kind] = sample
            _ = try file.appendMetadata(kind: track.kind, sample, at: time)
        }
    }

    private func lookForRoom(at captured: Int64) throws(End) {
        guard let least = order.options.minFreeBytes else { return }
        if let lookedForRoom, captured - lookedForRoom < Self.roomEvery { return }
        lookedForRoom = captured
        if let free = output.freeBytes(), UInt64(max(0, free)) < least { throw End(why: .diskFull) }
    }

    private func noteWritten(_ file: RecordingFile) {
        while let first = recent.first, first.end <= file.duration {
            lastCapture = first.captured
            recent.removeFirst()
        }
    }
}

/// Metadata of one frame, with its samples as JSON: `{"items":[…]}`, and no items for "none from here on".
struct FrameFacts: Sendable {
    /// As Exif numbers it.
    var orientation: UInt8
    /// Empty where nothing was found, or the recording has no track for objects.
    var objects: [DetectedObject] = []

    var orientationSample: String { #"{"items":[\#(orientation)]}"# }

    var objectSample: String {
        let items = objects.map { object in
            let box = [object.box.x, object.box.y, object.box.width, object.box.height].map(Self.part)
            // Types are words of our own: nothing in them has to be escaped.
            return #"{"type":"\#(object.type)","id":\#(object.id),"box":[\#(box.joined(separator: ","))]}"#
        }
        return #"{"items":[\#(items.joined(separator: ","))]}"#
    }

    /// A part of a side to a ten-thousandth, which is less than a pixel of 4K.
    private static func part(_ value: Double) -> String {
        let whole = Int((min(max(value, 0), 1) * 10_000).rounded())
        guard whole < 10_000 else { return "1" }
        let digits = String(whole)
        return "0." + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
