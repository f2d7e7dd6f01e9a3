/// Turns packets of sound into one run of frames without a hole, from a file's first moment to its last.
///
/// Packets have capture times: late, with gaps, overlapping, running back, in order or not quite, and by a clock that runs up to
/// 1 % fast or slow. Pieces of the file follow each other: sound that fills so many frames of the file, or silence.
///
/// * A gap of more than 20 ms becomes silence, and an overlap is dropped.
/// * A source that is fast or slow is followed by stretching: a piece has some frames more or less than its samples are,
///   by a line through the packets' times (`SourceClock`); their jitter is not heard.
/// * Sound that has not come when the picture is 250 ms further is silence, and dropped when it comes.
/// * Moments between `pause` and `resume` are not in the file: its times run on without them, and their sound is dropped.
///
/// A value without a clock: the caller passes the picture's moment. Sound of later moments waits.
package struct SoundTimeline: Sendable {
    package enum Piece: Hashable, Sendable {
        /// So many frames of the file are silent.
        case silence(frames: Int64)
        /// Interleaved samples at the source's rate, which fill so many frames of the file.
        case sound(samples: [Int16], frames: Int64)

        package var frames: Int64 {
            switch self {
            case .silence(let frames), .sound(_, let frames): frames
            }
        }
    }

    /// How far behind the picture sound may come, in nanoseconds. More would be held back in every file that is being written,
    /// and lost with it when it is killed.
    package static let latest: Int64 = 250_000_000
    /// Seconds of sound that wait for the picture: a microphone keeps no more (`KeptSound.timeMax`).
    private static let waitingMax = 4
    /// The share by which sound may be stretched beyond the error of its source's clock, rounded up to a frame: ears
    /// hear a difference of pitch from 0.3 % on.
    private static let catchingUpMax = 0.0025
    /// Shorter pieces could not be stretched by less than a whole frame in them.
    private static let pieceMin = 0.020

    private struct Block: Hashable, Sendable {
        var samples: [Int16]
        var span: SourceClock.Span
    }

    package let sourceRate, fileRate, channels: Int
    package private(set) var frames: Int64 = 0
    /// Frames of the source that came when the file had silence in their place.
    package private(set) var framesLate: Int64 = 0

    private var clock: SourceClock
    private var segments: [FileClock.Segment]
    /// By their times, but for jitter.
    private var waiting: [SoundPacket] = []
    private var waitingFrames = 0
    private var block: Block?
    /// Where the picture is in the file: no frame is beyond.
    private var bound: Int64 = 0
    /// The last piece was sound that ends on the line.
    private var isContinuous = false
    /// The last piece was silence for want of sound.
    private var isFilled = false

    /// - Parameter start: the file's first moment, in nanoseconds of CLOCK_MONOTONIC.
    package init(sourceRate: Int, fileRate: Int, channels: Int, beginningAt start: Int64) {
        (self.sourceRate, self.fileRate, self.channels) = (sourceRate, fileRate, channels)
        clock = SourceClock(sampleRate: sourceRate)
        segments = [FileClock.Segment(begin: start, end: nil, fileBegin: 0)]
    }

    // MARK: Packets, and the picture's moment

    /// Takes a packet, which waits until the picture has come to its moment.
    package mutating func take(_ packet: SoundPacket) {
        guard !packet.samples.isEmpty, waitingFrames < Self.waitingMax * sourceRate else { return }
        // A packet that is later by more than jitter is of a time ahead.
        let jitter = Int64(SourceClock.gapMin * 1e9)
        var place = waiting.endIndex
        while place > 0, waiting[place - 1].time - packet.time > jitter { place -= 1 }
        waiting.insert(packet, at: place)
        waitingFrames += packet.samples.count / channels
    }

    /// The picture has come to this moment, in nanoseconds of CLOCK_MONOTONIC. Returns the next pieces of the file.
    package mutating func advance(to picture: Int64) -> [Piece] {
        var pieces: [Piece] = []
        bound = position(at: picture)
        // A packet that reaches beyond the picture waits: with the next picture the file may end, or a pause begin.
        place(into: &pieces) { packet, length in packet.time + length <= picture }
        if let block, block.span.end <= Double(picture), isLong(block) { placeBlock(into: &pieces) }
        silence(upTo: position(at: picture - Self.latest), into: &pieces)
        forgetSegments()
        return pieces
    }

    /// From this moment on nothing is in the file, until `resume`.
    package mutating func pause(at moment: Int64) {
        guard let last = segments.last, last.end == nil else { return }
        segments[segments.count - 1].end = max(moment, last.begin)
    }

    /// In the file this moment follows that of the pause.
    package mutating func resume(at moment: Int64) {
        guard let last = segments.last, let end = last.end else { return }
        segments.append(
            FileClock.Segment(begin: max(moment, end), end: nil, fileBegin: last.fileBegin + end - last.begin))
    }

    /// The file ends at this moment, or with the pause that it is in. Once, as the last call.
    /// - Returns: the rest, by which the file's sound is as long as its moments are.
    package mutating func end(at moment: Int64) -> [Piece] {
        pause(at: moment)
        guard let last = segments.last, let end = last.end else { return [] }
        var pieces: [Piece] = []
        bound = position(at: Double(end), in: last)
        place(into: &pieces) { packet, _ in packet.time < end }
        placeBlock(into: &pieces)
        silence(upTo: bound, into: &pieces)
        return pieces
    }

    // MARK: Placing

    private func position(at moment: Double, in segment: FileClock.Segment) -> Int64 {
        let inFile = Double(segment.fileBegin) + (moment - Double(segment.begin))
        return Int64((inFile * Double(fileRate) / 1e9).rounded())
    }

    /// Where a moment is in the file; one in a pause is where that begins.
    private func position(at moment: Int64) -> Int64 {
        guard let segment = segments.last(where: { $0.begin <= moment }) else { return 0 }
        return position(at: Double(min(moment, segment.end ?? moment)), in: segment)
    }

    private mutating func forgetSegments() {
        let present = segments.lastIndex { position(at: Double($0.begin), in: $0) <= frames }
        segments.removeFirst(present ?? 0)
    }

    private mutating func place(
        into pieces: inout [Piece], _ isWanted: (_ packet: SoundPacket, _ nanoseconds: Int64) -> Bool
    ) {
        var taken = 0
        for packet in waiting {
            let count = packet.samples.count / channels
            guard isWanted(packet, Int64(count) * 1_000_000_000 / Int64(sourceRate)) else { break }
            taken += 1
            waitingFrames -= count
            let span = clock.place(time: packet.time, frames: count)
            if span.isContinuous, block != nil {
                block?.samples += packet.samples
                block?.span.end = span.end
            } else {
                placeBlock(into: &pieces)
                block = Block(samples: packet.samples, span: span)
            }
            // Together no longer than one packet may be.
            if let block, block.samples.count >= sourceRate * channels { placeBlock(into: &pieces) }
        }
        waiting.removeFirst(taken)
    }

    private func isLong(_ block: Block) -> Bool {
        block.samples.count >= Int(Self.pieceMin * Double(sourceRate)) * channels
    }

    private mutating func placeBlock(into pieces: inout [Piece]) {
        guard let block else { return }
        self.block = nil
        if !block.span.isContinuous { isContinuous = false }
        let count = block.samples.count / channels
        let (start, end) = (block.span.start, block.span.end)
        func frame(at moment: Double) -> Int {
            let part = (moment - start) / (end - start) * Double(count)
            return Int(min(max(part, 0), Double(count)).rounded())
        }
        for segment in segments {
            let from = max(start, Double(segment.begin))
            let to = min(end, segment.end.map(Double.init) ?? end)
            guard from < to else { continue }
            if from > start { isContinuous = false }
            place(
                block.samples, frame(at: from)..<frame(at: to), from: position(at: from, in: segment),
                to: position(at: to, in: segment), into: &pieces)
            if to < end { isContinuous = false }
        }
    }

    private mutating func place(
        _ samples: [Int16], _ range: Range<Int>, from: Int64, to: Int64, into pieces: inout [Piece]
    ) {
        var range = range
        let off = from - frames
        let tolerance = Int64(SourceClock.gapMin * Double(fileRate))
        if !isContinuous || abs(off) > tolerance {
            if off > 0 { silence(upTo: from, into: &pieces) }
            if off < 0 {
                let late = min(range.count, Int((Double(-off) * Double(sourceRate) / Double(fileRate)).rounded(.up)))
                range = range.lowerBound + late..<range.upperBound
                if isFilled { framesLate += Int64(late) }
            }
        }
        // Times jitter, so a packet may reach a little beyond the picture; or the file is ahead of it, and its end is further
        // beyond than stretching makes up for.
        let room = Int(Double(max(0, bound - frames)) * Double(sourceRate) / Double(fileRate))
        let squeezed = Int(Double(range.count) * max(0, Self.catchingUpMax - clock.rate))
        if range.count > room, to > bound || range.count - room > squeezed {
            range = range.prefix(room)
            isContinuous = false
        }
        guard !range.isEmpty else { return }
        let nominal = Int64((Double(range.count) * Double(fileRate) / Double(sourceRate)).rounded())
        let least = Int64((Double(nominal) * (clock.rate - Self.catchingUpMax)).rounded(.down))
        let most = Int64((Double(nominal) * (clock.rate + Self.catchingUpMax)).rounded(.up))
        let stretch = min(max(min(to, bound) - frames - nominal, least), most, bound - frames - nominal)
        guard nominal + stretch > 0 else { return }
        let whole = range.count * channels == samples.count
        pieces.append(
            .sound(
                samples: whole ? samples : Array(samples[range.lowerBound * channels..<range.upperBound * channels]),
                frames: nominal + stretch))
        frames += nominal + stretch
        (isContinuous, isFilled) = (to <= bound, false)
    }

    private mutating func silence(upTo position: Int64, into pieces: inout [Piece]) {
        guard position > frames else { return }
        // The present block comes first.
        placeBlock(into: &pieces)
        guard position > frames else { return }
        pieces.append(.silence(frames: position - frames))
        frames = position
        (isContinuous, isFilled) = (false, true)
    }
}
