import Arbiter
package import ArbiterProtocol
import Bus
import System

/// A recorder core's signals, read and bounded: their values may be stored and sent.
///
/// Texts are cut, since a long one may be honest. A number out of its bounds is not, nor is an unknown word where only
/// some are allowed: a recorder core that sends such a thing is broken, or not ours any more.
package enum RecorderNews {
    case recordingFinished(RecordingID, RecordingEnd, Contents)
    case photoCaptured(PhotoCaptured)
    case rampFinished(GrantID, videoZoomFactor: Double)
    case cameraStateChanged(GrantID, Configuration)
    case deviceChanged(DeviceState, message: String)
    case runtimeError(code: String, message: String, recording: RecordingID = 0, session: UInt64 = 0)
    case starting
    case leaving
    /// A newer recorder core may send more.
    case unknown

    package enum DeviceState: String, CaseIterable {
        case ok, disconnected, error
        case heldOutside = "held-outside"
        case privacyOn = "privacy-on"
        case privacyOff = "privacy-off"
    }

    /// A sentence of a recorder core, in bytes: as long as a format's name may be (`ConfigurationValue.textBytesMax`).
    package static let textBytesMax = 256
    /// A sentence that answers a call: it may name all that a key takes.
    static let answerBytesMax = 1024
    /// A code is a word or two.
    static let codeBytesMax = 64
    /// Nanoseconds: ten years, longer than any disk lasts, and so far from overflowing that sums of it cannot.
    package static let durationMax: Int64 = 10 * 366 * 86_400 * 1_000_000_000
    /// A thousand frames a second for those ten years, rounded up.
    static let framesMax: UInt64 = 1 << 39
    /// The greatest size that a file can have.
    static let fileBytesMax = UInt64(Int64.max)
    /// Pixels: as in `CameraCapabilities`, wider than any sensor made.
    static let sideMax: UInt32 = 65_536
    /// More than any lens and sensor magnify.
    static let zoomFactorMax = 1_000_000.0
    /// A sensitivity, a time, a place of the lens or a count: more than any sensor's greatest ISO.
    static let stateMax = 1e9

    init(reading message: BusMessage) throws(BrokerError) {
        try self.init(message.member, message.argumentsWithoutDescriptors())
    }

    package init(_ member: String, _ arguments: [WireValue]) throws(BrokerError) {
        var reader = WireReader(member, arguments)
        switch member {
        case "RecordingFinished":
            let (recording, why) = (try reader.uint64("recording"), try reader.word("why") as RecordingEnd)
            var file = try Contents(reading: &reader, of: member)
            // An earlier recorder core does not count them.
            if !reader.isAtEnd {
                file.framesLeftOut = try Self.bounded(
                    reader.uint64("framesLeftOut"), 0...Self.framesMax, "framesLeftOut", member)
            }
            self = .recordingFinished(recording, why, file)
        case "PhotoCaptured":
            var photo = try PhotoCaptured(reading: &reader)
            _ = try Self.bounded(photo.width, 0...Self.sideMax, "width", member)
            _ = try Self.bounded(photo.height, 0...Self.sideMax, "height", member)
            _ = try Self.bounded(photo.bytes, 0...Self.fileBytesMax, "bytes", member)
            photo.error = photo.error.map { Self.cut($0, Self.textBytesMax) }
            self = .photoCaptured(photo)
        case "RampFinished":
            self = .rampFinished(
                GrantID(try reader.uint64("grant")),
                videoZoomFactor: try Self.bounded(
                    reader.number("videoZoomFactor"), 1...Self.zoomFactorMax, "videoZoomFactor", member))
        case "CameraStateChanged":
            self = .cameraStateChanged(
                GrantID(try reader.uint64("grant")), try Self.state(reader.dictionary("state"), member))
        case "DeviceChanged":
            let word = try reader.string("state")
            guard let state = DeviceState(rawValue: word) else {
                throw BrokerError(.invalidValue, "DeviceChanged: there is no state \(word.quotedShort).")
            }
            self = .deviceChanged(state, message: Self.cut(try reader.string("message"), Self.textBytesMax))
        case "RuntimeError":
            let (code, message) = (try reader.string("code"), try reader.string("message"))
            // An earlier recorder core says all to the holder.
            let (recording, session): (UInt64, UInt64) =
                reader.isAtEnd ? (0, 0) : (try reader.uint64("recording"), try reader.uint64("session"))
            self = .runtimeError(
                code: Self.cut(code, Self.codeBytesMax), message: Self.cut(message, Self.textBytesMax),
                recording: recording, session: session)
        case "Starting": self = .starting
        case "Leaving": self = .leaving
        default: self = .unknown
        }
    }

    package struct Contents {
        /// `nil` where it is not known, as are the next two.
        var frames: UInt64?
        var duration: Duration?
        var bytes: UInt64?
        /// `nil` where there is no frame, or it is not known.
        var lastCapture: Moment?
        var framesLeftOut: UInt64 = 0

        func end(of recording: RecordingID, _ why: RecordingEnd) -> Event {
            .recordingFinished(
                recording, why: why, frames: frames, duration: duration, bytes: bytes, lastCapture: lastCapture,
                framesLeftOut: framesLeftOut)
        }
    }

    static func completed(_ message: BusMessage) throws(BrokerError) -> Contents {
        let member = "Complete"
        var reader = WireReader(member, try message.argumentsWithoutDescriptors())
        return try Contents(reading: &reader, of: member)
    }

    /// Keys of a newer recorder core are passed over.
    private static func state(_ sent: WireDictionary, _ member: String) throws(BrokerError) -> Configuration {
        var known = WireDictionary()
        for entry in sent.entries where ConfigurationKey(rawValue: entry.key)?.isCameraState == true {
            known[entry.key] = entry.value
        }
        let state = try Configuration(wire: known)
        for (key, value) in state.ordered {
            switch value {
            case .number(let number): _ = try bounded(number, 0...stateMax, key.rawValue, member)
            case .text(let word): _ = try bounded(word.utf8.count, 1...codeBytesMax, "bytes of \(key.rawValue)", member)
            case .flag, .point, .gains: break
            }
        }
        return state
    }

    fileprivate static func bounded<Number: Comparable>(
        _ number: Number, _ allowed: ClosedRange<Number>, _ name: String, _ member: String
    ) throws(BrokerError) -> Number {
        guard allowed.contains(number) else {
            throw BrokerError(
                .invalidValue,
                "\(member): “\(name)” is \(number); it takes \(allowed.lowerBound) to \(allowed.upperBound).")
        }
        return number
    }

    /// The text without control characters, and at most so many bytes of it, cut between characters.
    package static func cut(_ text: String, _ bytesMax: Int) -> String {
        // Read no further than is kept: a text may have a megabyte.
        guard text.utf8.count > bytesMax else { return Journal.printable(text, keepLines: false) }
        let mark = "…"
        var kept = String.UnicodeScalarView()
        var bytes = mark.utf8.count
        for scalar in text.unicodeScalars {
            bytes += String(scalar).utf8.count
            if bytes > bytesMax { break }
            kept.append(scalar)
        }
        return Journal.printable(String(kept), keepLines: false) + mark
    }
}

extension RecorderNews.Contents {
    fileprivate init(reading reader: inout WireReader, of member: String) throws(BrokerError) {
        frames = try RecorderNews.bounded(reader.uint64("frames"), 0...RecorderNews.framesMax, "frames", member)
        duration = .nanoseconds(
            try RecorderNews.bounded(reader.int64("duration"), 0...RecorderNews.durationMax, "duration", member))
        bytes = try RecorderNews.bounded(reader.uint64("bytes"), 0...RecorderNews.fileBytesMax, "bytes", member)
        // An earlier recorder core does not send it.
        if reader.isAtEnd { return }
        let last = try RecorderNews.bounded(
            reader.int64("lastCapture"), 0...RecorderNews.durationMax, "lastCapture", member)
        lastCapture = last == 0 ? nil : Moment(nanoseconds: last)
    }
}

/// Rate limit of a recorder core's signals. Pure: times come from outside.
///
/// Its signals go on to clients, to subscribers, into the journal: a flood would have slower readers cut off. The end of a
/// recording or a photo is not counted: it comes only as often as it was asked for.
package struct RecorderAllowance {
    /// Runtime errors a second that pass. A device that fails is started three times before it is given up
    /// (`CaptureLoop.restartsMax`), and a control that changes by itself does so a few times a second.
    package static let errorsMax = 8
    /// All signals a second, with those that are left out.
    package static let signalsMax = 256
    package static let window: Int64 = 1_000_000_000

    package enum Verdict: Hashable {
        case passed
        /// One error too many: the core receives their count at the window's end.
        case leftOut
        case tooMuch
    }

    private var windowEnds: Int64 = .min
    private var signals = 0
    private var errors = 0
    package private(set) var leftOut = 0

    package var reportAt: Int64? { leftOut > 0 ? windowEnds : nil }

    package init() {}

    package mutating func take(isError: Bool, at now: Int64) -> Verdict {
        if now >= windowEnds {
            windowEnds = now + Self.window
            (signals, errors) = (0, 0)
        }
        signals += 1
        if signals > Self.signalsMax { return .tooMuch }
        guard isError else { return .passed }
        errors += 1
        if errors <= Self.errorsMax { return .passed }
        leftOut += 1
        return .leftOut
    }

    package mutating func takeLeftOut() -> String? {
        guard leftOut > 0 else { return nil }
        defer { leftOut = 0 }
        return "The recorder core said \(leftOut) more within a second; \(Self.errorsMax) of them were told."
    }
}
