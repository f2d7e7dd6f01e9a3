import ArbiterProtocol
import RecorderCore

/// A client's microphone, from its packets to the file's sound.
extension FuzzTarget {
    /// A packet is read as it was sent, and a problem is a sentence; the kept sound is bounded; and a file's sound is as long as its
    /// moments, without more samples than were sent, also after its encoder.
    static func microphone(_ input: [UInt8]) {
        var run = SoundRun(input)
        run.run()
    }
}

/// A recording with a microphone: packets, pictures and pauses.
private struct SoundRun {
    private var seed: WireSeed
    private let rate: Int
    private let channels: Int
    private let isEncoded: Bool
    private var kept: KeptSound
    private var timeline: SoundTimeline
    private var pieces: [SoundTimeline.Piece] = []

    /// Nanoseconds of CLOCK_MONOTONIC.
    private static let begin: Int64 = 1_000_000_000_000
    /// Nanoseconds.
    private static let lengthMax: Int64 = 5_000_000_000
    private var now = Self.begin
    /// The time of the next packet of a well-behaved microphone.
    private var next = Self.begin
    /// The moments of the file; the last goes on while it has no end.
    private var parts: [(start: Int64, end: Int64?)] = [(Self.begin, nil)]
    private var samplesTaken = 0
    private var framesPlaced: Int64 = 0
    private var samplesPlaced = 0
    private var sample: Int16 = 0

    init(_ input: [UInt8]) {
        seed = WireSeed(input)
        let head = seed.byte()
        let rates = [8_000, 11_025, 16_000, 22_050, 44_100, 47_999, 48_000, 96_000]
        rate = rates[Int(head & 7)]
        channels = head & 8 == 0 ? 1 : 2
        isEncoded = head & 0xc0 == 0xc0
        kept = KeptSound(sampleRate: rate, channels: channels)
        timeline = SoundTimeline(
            sourceRate: rate, fileRate: SoundEncoder.streamRate(for: rate), channels: channels, beginningAt: Self.begin)
    }

    mutating func run() {
        while !seed.isEmpty, now - Self.begin < Self.lengthMax {
            switch seed.byte() % 8 {
            case 0, 1, 2: send(usualPacket())
            case 3, 4: send(seed.part(Int(seed.byte())) + [UInt8](repeating: 0, count: Int(seed.byte()) * 8))
            case 5:
                now += Int64(seed.byte()) * 4_000_000
                showPicture()
            case 6:
                timeline.pause(at: now)
                if let last = parts.last, last.end == nil { parts[parts.count - 1].end = now }
            default:
                timeline.resume(at: now)
                if parts.last?.end != nil { parts.append((now, nil)) }
            }
        }
        take()
        add(timeline.end(at: now))
        precondition(
            timeline.frames == frames(at: now),
            "A file of \(frames(at: now)) frames has \(timeline.frames) frames of sound.")
        if isEncoded { encode() }
    }

    /// A valid packet, with a time that is off by some units.
    private mutating func usualPacket() -> [UInt8] {
        let units: [Int64] = [1_000, 100_000, 1_000_000, 20_000_000]
        let unit = units[Int(seed.byte()) % units.count]
        let time = max(0, next + Int64(Int8(bitPattern: seed.byte())) * unit)
        let frames = 1 + (Int(seed.byte()) << 8 | Int(seed.byte())) % (rate / 8)
        next = time + Int64(frames) * 1_000_000_000 / Int64(rate)
        sample = sample == .max ? 1 : sample + 1
        return Self.bytes(
            SoundPacket(time: time, samples: [Int16](repeating: sample, count: frames * channels)), frames)
    }

    private static func bytes(_ packet: SoundPacket, _ frames: Int) -> [UInt8] {
        func little(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
        }
        var bytes = little(UInt64(bitPattern: packet.time), 8) + little(UInt64(frames), 4) + [0, 0, 0, 0]
        // Without an array for each of some ten thousand.
        for sample in packet.samples {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        return bytes
    }

    private mutating func send(_ bytes: [UInt8]) {
        let (rate, channels) = (rate, channels)
        let read = bytes.withUnsafeBytes { bytes in
            Result { () throws(SoundProblem) in try SoundPacket(decoding: bytes, sampleRate: rate, channels: channels) }
        }
        switch read {
        case .failure(let problem): Self.check(problem)
        case .success(let packet):
            precondition(
                Self.bytes(packet, packet.samples.count / channels) == bytes,
                "A packet says something else than was sent.")
            if let problem = kept.add(packet, at: now) { Self.check(problem) }
            precondition(
                kept.frames <= 5 * rate / 2 && kept.packets.count <= KeptSound.packetsASecond * 5 / 2,
                "\(kept.frames) frames in \(kept.packets.count) packets are kept.")
        }
    }

    private static func check(_ problem: SoundProblem) {
        let sentence = problem.sentence
        precondition(
            sentence.hasSuffix(".") && !sentence.utf8.contains(10), "A problem is told as no sentence: \(sentence)")
    }

    private mutating func take() {
        let frames = kept.frames
        let packets = kept.take()
        let samples = packets.reduce(0) { $0 + $1.samples.count }
        precondition(samples == frames * channels, "\(samples) samples were kept as \(frames) frames.")
        samplesTaken += samples
        for packet in packets { timeline.take(packet) }
    }

    private mutating func showPicture() {
        take()
        add(timeline.advance(to: now))
        let behind = frames(at: now - SoundTimeline.latest)
        precondition(
            behind...frames(at: now) ~= timeline.frames,
            "At frame \(frames(at: now)) of the file its sound is \(timeline.frames) frames long.")
    }

    private func frames(at moment: Int64) -> Int64 {
        let time = parts.reduce(Int64(0)) { $0 + max(0, min(moment, $1.end ?? moment) - $1.start) }
        return Int64((Double(time) * Double(timeline.fileRate) / 1e9).rounded())
    }

    private mutating func add(_ more: [SoundTimeline.Piece]) {
        for piece in more {
            precondition(piece.frames > 0, "A piece of a file has \(piece.frames) frames.")
            framesPlaced += piece.frames
            guard case .sound(let samples, let frames) = piece else { continue }
            let nominal = Double(samples.count / channels) * Double(timeline.fileRate) / Double(rate)
            // The largest drift of a clock, catching up, and two frames for rounding.
            precondition(
                !samples.isEmpty && samples.count % channels == 0
                    && abs(Double(frames) - nominal) <= nominal * (0.012 + 0.0025) + 2,
                "\(samples.count) samples are to fill \(frames) frames.")
            samplesPlaced += samples.count
        }
        if isEncoded { pieces += more }
        precondition(
            framesPlaced == timeline.frames, "The pieces have \(framesPlaced) frames, and all of it \(timeline.frames)."
        )
        precondition(samplesPlaced <= samplesTaken, "Of \(samplesTaken) samples \(samplesPlaced) are in the file.")
    }

    private func encode() {
        do throws(MediaFault) {
            let encoder = try SoundEncoder(sourceRate: rate, channels: channels)
            var end: Int64 = 0
            func note(_ packet: SoundEncoder.Packet) { end = max(end, packet.time + packet.duration) }
            for piece in pieces { try encoder.encode(piece) { (packet) throws(MediaFault) in note(packet) } }
            try encoder.finish { (packet) throws(MediaFault) in note(packet) }
            let length = Double(timeline.frames) / Double(timeline.fileRate) * 1e9
            precondition(abs(Double(end) - length) <= 2, "Sound of \(length) ns was encoded as \(end) ns.")
        } catch { preconditionFailure("Sound cannot be encoded: \(error)") }
    }
}
