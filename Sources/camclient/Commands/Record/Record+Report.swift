import ArbiterProtocol
import Camarb
import JSONText
import Timeline

extension Record {
    /// Says to people or to programs how a recording ended.
    func report(_ part: RecordingSeries.Part) {
        let (finished, interruption) = (part.finished, part.interruption)
        let interrupter = finished.interrupter ?? interruption?.interrupter
        if output.json {
            Output.line(
                JSON.object([
                    "file": .optional(part.file), "recording": .count(finished.recording),
                    "why": .string(finished.why.rawValue),
                    "frames": finished.frames.map { .count($0) } ?? .null,
                    "nanoseconds": finished.duration.map { .integer($0.wholeNanoseconds) } ?? .null,
                    "bytes": finished.bytes.map { .count($0) } ?? .null,
                    "nextChance": .string(finished.nextChance.rawValue),
                    "reason": .optional(interruption?.reason?.wireName),
                    "interrupter": .optional(interrupter?.wireName),
                    "cause": .optional(finished.cause?.wireName),
                    "framesLeftOut": .count(finished.framesLeftOut),
                    "lastCapture": finished.lastCapture.map { .integer($0.nanoseconds) } ?? .null,
                ]).text)
            return
        }
        var facts = ["\(finished.duration?.shortText ?? "length unknown")"]
        facts += [(finished.frames, "frames"), (finished.bytes, "bytes")].map { count, what in
            count.map { "\($0) \(what)" } ?? "\(what) unknown"
        }
        if finished.framesLeftOut > 0 { facts.append("\(finished.framesLeftOut) frames left out") }
        var line = facts.joined(separator: ", ")
        if !part.isWanted {
            line += "; ended: \(finished.why.rawValue)" + (finished.cause.map { ", \($0.shortName)" } ?? "")
        }
        Output.line("\(part.file ?? "no file"): \(line)")
        if let interruption {
            let by = interrupter.map { " by \($0.description.printable)" } ?? ""
            Output.notice(
                "camclient: the session was interrupted\(by): "
                    + interruption.causes.ordered.map(\.shortName).joined(separator: ", "))
        }
    }
}
