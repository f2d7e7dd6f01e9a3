package struct FileTexts: Sendable {
    package private(set) var files: [File] = []

    package struct File: Sendable {
        /// As messages name it; without what could steer a terminal.
        package var name: String
        package var lines: [Substring.UnicodeScalarView]
    }

    /// The number by which places name this file: the order in which files are read.
    package mutating func add(_ name: String, _ bytes: [UInt8]) -> Int {
        let text = String(decoding: bytes, as: UTF8.self)
        files.append(
            File(
                name: Wording.visible(name),
                lines: text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)))
        return files.count - 1
    }

    /// A line, with its file where that is another one than `here`.
    package func spoken(_ place: Place, from here: Place) -> String {
        place.file == here.file ? "line \(place.line)" : "\(files[place.file].name):\(place.line)"
    }

    /// The problem at a place. One outside its file (an error at its very end) is moved to the last character;
    /// one in line 0 is the file's as a whole.
    package func problem(_ message: String, at place: Place, hint: String) -> (Place, FileProblem) {
        let file = files[place.file]
        guard place.line > 0 else {
            return (place, FileProblem(file: file.name, line: 0, column: 0, message: message, hint: hint))
        }
        let line = min(place.line, file.lines.count)
        let scalars = file.lines[line - 1]
        let width = scalars.count
        let column = line == place.line ? min(place.column, width + 1) : width + 1
        let length = max(1, min(place.length, width + 1 - column))
        // A control character in a message could rewrite the terminal that shows it. A line that is too long is shown as
        // far as one that is not could go: a message goes into the journal, too.
        let shown = scalars.prefix(FileBounds.lineBytesMax)
        let visible = shown.map { $0 == "\r" ? " " : $0.isPrintable || $0 == "\t" ? $0 : "\u{FFFD}" }
        var lineText = String.UnicodeScalarView(visible)
        while lineText.last == " " { lineText.removeLast() }
        if shown.count < width { lineText.append("…") }
        return (
            Place(file: place.file, line: line, column: column, length: length),
            FileProblem(
                file: file.name, line: line, column: column, message: message, length: length,
                lineText: String(lineText), hint: hint)
        )
    }
}

extension Unicode.Scalar {
    /// Neither steers a terminal nor turns the order of letters around: a line shows what it says.
    package var isPrintable: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: false
        case 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}
