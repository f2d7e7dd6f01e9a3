import ArbiterProtocol
import Camarb
import JSONText
import Timeline

extension Record {
    /// Says to people or to programs how it ended.
    func report(_ finished: RecordingFinished, _ interruption: Interruption?) {
        if output.json {
            Output.line(
                JSON.object([
                    "file": .string(file), "recording": .count(finished.recording),
                    "why": .string(finished.why.rawValue),
                    "frames": .count(finished.frames), "nanoseconds": .integer(finished.duration.wholeNanoseconds),
                    "bytes": .count(finished.bytes), "nextChance": .string(finished.nextChance.rawValue),
                    "reason": .optional(interruption?.reason?.wireName),
                    "interrupter": .optional(interruption?.interrupter?.wireName),
                ]).text)
            return
        }
        Output.line(
            "\(file): \(finished.duration.shortText), \(finished.frames) frames, \(finished.bytes) bytes"
                + (finished.why == .stopped || finished.why == .durationLimit
                    ? "" : "; ended: \(finished.why.rawValue)"))
        if let interruption {
            let by = interruption.interrupter.map { " by \($0.description.printable)" } ?? ""
            Output.notice(
                "camclient: the session was interrupted\(by): "
                    + interruption.causes.ordered.map(\.shortName).joined(separator: ", "))
        }
    }
}
