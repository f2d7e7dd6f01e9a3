enum ScenarioText {
    /// Far above any scenario or trace a person would read.
    static let bytesMax = 4 << 20
    /// More than any line of the language needs: that of a camera has its formats, up to 256, at some 200 bytes each.
    static let lineBytesMax = 65_536
    /// More problems at once help nobody.
    static let problemsMax = 50

    static func read(_ bytes: [UInt8], file: String) throws(ScenarioError) -> String {
        func problem(at index: Int, _ message: String) -> ScenarioError {
            let line = bytes[..<index].count { $0 == newline } + 1
            let start = bytes[..<index].lastIndex(of: newline).map { $0 + 1 } ?? 0
            let lead = String(decoding: bytes[start..<index], as: UTF8.self)
            return ScenarioError([
                .init(file: file, line: line, column: lead.count + 1, message: message, text: lead + "…")
            ])
        }
        if bytes.count > bytesMax {
            throw ScenarioError(file, "the file is larger than \(bytesMax) bytes; a scenario is text of some lines")
        }
        if let index = bytes.firstIndex(where: { $0 < 0x20 && $0 != newline && $0 != tab && $0 != carriageReturn }) {
            throw problem(
                at: index, "here is a byte with the value \(bytes[index]); a scenario is text: is this the right file?")
        }
        if let index = bytes.firstIndex(of: carriageReturn) {
            throw problem(
                at: index,
                "this line ends in a carriage return; lines end in a newline alone, which sed -i 's/\\r$//' \(file) makes of them"
            )
        }
        if let line = bytes.split(separator: newline).first(where: { $0.count > lineBytesMax }) {
            throw problem(
                at: line.startIndex, "this line is longer than \(lineBytesMax) bytes; a line says one thing")
        }
        do throws(UTF8.ValidationError) { return String(copying: try UTF8Span(validating: bytes.span)) } catch {
            let place = error.byteOffsets.lowerBound
            throw problem(at: place, "from here on this is not UTF-8 text: is this the right file?")
        }
    }

    private static let newline = UInt8(ascii: "\n")
    private static let tab = UInt8(ascii: "\t")
    private static let carriageReturn = UInt8(ascii: "\r")
}
