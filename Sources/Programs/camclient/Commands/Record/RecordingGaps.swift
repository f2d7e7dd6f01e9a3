import ArbiterProtocol
import Camarb
import Glibc

/// What lies between the files of one command, as JSON beside them: for each interruption that cut a recording, when the last frame
/// before it and the first one after it were captured, and why nothing is between them.
struct RecordingGaps {
    private struct Gap {
        var before: String
        var after: String?
        var lastCapture: Moment?
        var firstCapture: Moment?
        var cause: Cause?
        var interrupter: Interrupter?
        var interruption: Duration?

        var json: JSONObject {
            let between: Int64? =
                if let lastCapture, let firstCapture { (firstCapture - lastCapture).wholeNanoseconds } else { nil }
            return [
                "fileBefore": before, "fileAfter": after, "lastCapture": lastCapture?.nanoseconds,
                "firstCapture": firstCapture?.nanoseconds, "nanoseconds": between, "cause": cause?.wireName,
                "interrupter": interrupter?.wireName, "interruptionNanoseconds": interruption?.wholeNanoseconds,
            ]
        }
    }

    private var files: [String] = []
    private var gaps: [Gap] = []
    /// The recording behind which the last gap is, while it is not known how long its interruption took.
    private var cut: RecordingID?
    /// The last interruption that cut a recording. When a recorder core fails, it ends before its recording is completed.
    private var ended: InterruptionEnd?

    mutating func kept(_ path: String, _ finished: RecordingFinished, firstCapture: Moment?, isCut: Bool) {
        let name = path.fileName
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

    mutating func ended(_ interruption: InterruptionEnd) -> Bool {
        ended = interruption
        guard let cut, interruption.recording == cut, !gaps.isEmpty else { return false }
        gaps[gaps.count - 1].interruption = interruption.duration
        self.cut = nil
        return true
    }

    var text: String {
        let lines = gaps.map { "\n    " + JSONEncoding.text(of: $0.json) }.joined(separator: ",")
        return
            "{\n  \"files\": \(JSONEncoding.text(of: files)),\n  \"gaps\": [\(lines)\(gaps.isEmpty ? "" : "\n  ")]\n}\n"
    }
}

/// When a recording's first frame was captured, as its file says: the Matroska tag `FIRST_CAPTURE`. Not the preview,
/// whose frames may be others, nor the last frame's capture less the recording's length: the length counts the last
/// frame's display, which is as long as the camera's rate says and not as the frames came, and a pause is not in it.
enum CaptureTime {
    /// The tags lie before the pictures, behind a reserved index of 64 KiB: this is more than all of that.
    private static let headMax = 1 << 20
    /// A TagName (RFC 9559) with its size and text, and the id of the TagString behind it.
    private static let tag: [UInt8] = [0x45, 0xa3, 0x8d] + Array("FIRST_CAPTURE".utf8) + [0x44, 0x87]

    static func first(in file: Int32) -> Moment? {
        var head = [UInt8](repeating: 0, count: headMax)
        let count = pread(file, &head, head.count, 0)
        let starts = 0..<max(0, count - tag.count)
        guard let start = starts.first(where: { head[$0] == tag[0] && head[$0...].starts(with: tag) }) else {
            return nil
        }
        // A size of one byte, whose topmost bit says that it is one, and digits.
        let text = head[(start + tag.count)...]
        let digits = text.dropFirst().prefix(Int(text.first ?? 0) & 0x7f)
        return Int64(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? Moment(nanoseconds: $0) : nil }
    }
}
