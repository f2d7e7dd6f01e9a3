import ArbiterProtocol
import Camarb
import Workbench

/// Prints a session's events as they come, for people or for programs.
struct EventPrinter: Sendable {
    let app: String
    let isJSON: Bool
    let style: TerminalStyle
    let begin = Moment.now

    func print(_ notice: SessionNotice) {
        let now = Moment.now
        switch notice {
        case .event(let signal):
            if isJSON {
                Output.line(LogEntry.event(now, app: app, signal).json.text)
            } else {
                line(now, signal.event.line)
            }
        case .ended(let error):
            guard isJSON else { return line(now, "ended: \(error.message)") }
            say(now, ["ended": .string(error.kind.rawValue), "message": .string(error.message)])
        }
    }

    func fact(_ fact: TimelineFact) {
        let now = Moment.now
        if isJSON { Output.line(LogEntry.fact(now, fact).json.text) }
    }

    func done(_ command: String, _ result: JSON? = nil, words: String = "done") {
        let now = Moment.now
        guard isJSON else { return line(now, "\(command): \(words)") }
        say(now, ["command": .string(command), "ok": .bool(true)], result)
    }

    func failed(_ command: String, _ failure: Failure) {
        let now = Moment.now
        guard isJSON else { return line(now, "\(command): \(failure.message)") }
        say(
            now,
            [
                "command": .string(command), "ok": .bool(false), "error": .optional(failure.name),
                "message": .string(failure.message),
            ])
    }

    private func say(_ now: Moment, _ members: KeyValuePairs<String, JSON>, _ result: JSON? = nil) {
        var json = JSON.object(["moment": .integer(now.nanoseconds), "app": .string(app)]).adding(members)
        for member in result?.members ?? [] { json = json.adding([member.key: member.value]) }
        Output.line(json.text)
    }

    private func line(_ now: Moment, _ text: String) {
        Output.line("\((now - begin).shortText.leftPadded(8))  \(app.printable)  \(text)")
    }
}

extension String {
    func leftPadded(_ columns: Int) -> String { String(repeating: " ", count: max(0, columns - count)) + self }
    func rightPadded(_ columns: Int) -> String { self + String(repeating: " ", count: max(0, columns - count)) }

    /// Its words as lines of at most so many columns, where no word is longer.
    func wrapped(to columns: Int) -> [String] {
        split(separator: " ").reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= columns {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}

/// Rows as columns that are as wide as they need to be.
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
