import ArbiterProtocol
import ArgumentParser
import Workbench

func columns(_ rows: [[String]]) -> [String] {
    var widths: [Int] = []
    for row in rows {
        for (index, cell) in row.enumerated() {
            if index == widths.count { widths.append(0) }
            widths[index] = max(widths[index], cell.count)
        }
    }
    return rows.map { row in
        var line = row.enumerated().map { $1.rightPadded(widths[$0]) }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}

func table<Row>(_ rows: [Row], _ described: KeyValuePairs<String, (Row) -> String>) -> [String] {
    columns([described.map(\.key)] + rows.map { row in described.map { $0.value(row) } })
}

extension String {
    func leftPadded(_ columns: Int) -> String { String(repeating: " ", count: max(0, columns - count)) + self }
    func rightPadded(_ columns: Int) -> String { self + String(repeating: " ", count: max(0, columns - count)) }

    func wrapped(to columns: Int) -> [String] {
        split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= columns {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }

    /// `printable`, with its lines and tabs as they are.
    var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\t")
        }.joined(separator: "\n")
    }

    var withoutLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }

    var trimmed: String {
        let end = self.reversed().drop(while: \.isWhitespace).count
        return String(prefix(end).drop(while: \.isWhitespace))
    }
}

extension String {
    var fileName: String { String(self[nameAt...]) }

    var withoutEnding: String { String(self[..<endingAt]) }

    /// `door-2.jpg` for `door.jpg`.
    func numbered(_ number: Int) -> String { "\(self[..<endingAt])-\(number)\(self[endingAt...])" }

    private var nameAt: Index { lastIndex(of: "/").map { index(after: $0) } ?? startIndex }

    private var endingAt: Index {
        // A hidden file's first dot begins its name.
        guard let dot = self[nameAt...].lastIndex(of: "."), dot > nameAt else { return endIndex }
        return dot
    }

    func inFolder(_ folder: String) -> String { folder.hasSuffix("/") ? folder + self : "\(folder)/\(self)" }
}

extension Int {
    var grouped: String { Workbench.grouped(self) }
    func counted(_ what: String) -> String { Workbench.count(self, what) }
}

extension Duration {
    var seconds: String { (Double(wholeNanoseconds) / 1e9).shortDescription }

    var roundSeconds: Double { Double(wholeNanoseconds / 1_000_000) / 1000 }
}

extension ArgumentHelp {
    static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}
