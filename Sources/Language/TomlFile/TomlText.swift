import Vocabulary

package enum TomlText {
    /// The length of a line of a written file; far below `FileBounds.lineBytesMax`, and a screen is not wider.
    private static let lineBytesMax = 120

    package static func fitsOnALine(_ text: String) -> Bool { text.utf8.count <= lineBytesMax }

    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            case _ where !scalar.isPrintable:
                let digits = String(scalar.value, radix: 16)
                quoted += scalar.value > 0xFFFF ? "\\U" : "\\u"
                quoted += String(repeating: "0", count: (scalar.value > 0xFFFF ? 8 : 4) - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    package static func quoted(_ duration: Duration) -> String { quoted(DurationText.write(duration)) }

    /// On one line where it fits, else an element a line.
    package static func list(_ texts: [String]) -> String { list(values: texts.map(quoted)) }

    package static func list(values: [String]) -> String {
        let short = "[\(values.joined(separator: ", "))]"
        if fitsOnALine(short) { return short }
        return "[\n" + values.map { "    \($0),\n" }.joined() + "]"
    }

    package static func number(_ value: Double) -> String {
        // Beyond this not every whole number is one any more.
        abs(value) < 0x1p53 && value == value.rounded() ? "\(Int64(value))" : value.plainDescription
    }
}
