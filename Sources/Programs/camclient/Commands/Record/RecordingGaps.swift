import ArbiterProtocol
import Camarb

/// What lies between the files of one command, as JSON beside them: for each interruption that cut a recording, when the last frame
/// before it and the first one after it were captured, and why nothing is between them.
struct RecordingGaps {
    /// What is not known yet, or never will be, is nil.
    private struct Gap {
        var before: String
        var after: String?
        var lastCapture: Moment?
        var firstCapture: Moment?
        var cause: Cause?
        var interrupter: Interrupter?
        var interruption: Duration?

        var json: JSON {
            let between: Int64? =
                if let lastCapture, let firstCapture { (firstCapture - lastCapture).wholeNanoseconds } else { nil }
            return .object([
                "fileBefore": .string(before), "fileAfter": .optional(after),
                "lastCapture": Self.optional(lastCapture?.nanoseconds),
                "firstCapture": Self.optional(firstCapture?.nanoseconds), "nanoseconds": Self.optional(between),
                "cause": .optional(cause?.wireName), "interrupter": .optional(interrupter?.wireName),
                "interruptionNanoseconds": Self.optional(interruption?.wholeNanoseconds),
            ])
        }

        private static func optional(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }
    }

    private var files: [String] = []
    private var gaps: [Gap] = []
    /// The recording behind which the last gap is, while it is not known how long its interruption took.
    private var cut: RecordingID?
    /// The last interruption that cut a recording. When a recorder core fails, it ends before its recording is completed.
    private var ended: InterruptionEnd?

    /// A recording has its file, and begins where the last gap ends.
    mutating func kept(_ path: String, _ finished: RecordingFinished, firstCapture: Moment?, isCut: Bool) {
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        if !gaps.isEmpty, gaps[gaps.count - 1].after == nil {
            gaps[gaps.count - 1].after = name
            gaps[gaps.count - 1].firstCapture = firstCapture
        }
        files.append(name)
        guard isCut else { return }
        let before = ended.flatMap { $0.recording == finished.recording ? $0 : nil }
        cut = before == nil ? finished.recording : nil
        gaps.append(
            Gap(
                before: name, lastCapture: finished.lastCapture, cause: finished.cause,
                interrupter: finished.interrupter, interruption: before?.duration))
    }

    /// - Returns: whether this says something new of the last gap.
    mutating func ended(_ interruption: InterruptionEnd) -> Bool {
        ended = interruption
        guard let cut, interruption.recording == cut, !gaps.isEmpty else { return false }
        gaps[gaps.count - 1].interruption = interruption.duration
        self.cut = nil
        return true
    }

    /// All of it, a gap a line.
    var text: String {
        let lines = gaps.map { "\n    " + $0.json.text }.joined(separator: ",")
        return
            "{\n  \"files\": \(JSON.array(files.map { .string($0) }).text),\n  \"gaps\": [\(lines)\(gaps.isEmpty ? "" : "\n  ")]\n}\n"
    }
}
