import ArbiterProtocol
import CaptureModel

/// What a recording's metadata says of one frame beside its picture.
struct FrameFacts: Sendable {
    /// As Exif numbers it.
    var orientation: UInt8
    /// Empty where nothing was found, or the recording does not ask.
    var objects: [DetectedObject] = []
}

/// Samples of the recorder core's own kinds of metadata, as JSON: `{"items":[…]}`, and no items for "none from here on".
enum MetadataSample {
    static func orientation(_ orientation: UInt8) -> String { #"{"items":[\#(orientation)]}"# }

    static func objects(_ objects: [DetectedObject]) -> String {
        let items = objects.map { object in
            let box = [object.box.x, object.box.y, object.box.width, object.box.height].map(part)
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
