package import ArbiterProtocol
import ArgumentParser
import Glibc
import Synchronization
import System
package import Workbench

/// Lines on standard output and notices on standard error, each in one write: those of several processes do not mix.
package enum Output {
    package static func line(_ text: String) { self.text(text + "\n") }
    package static func lines(_ lines: some Sequence<String>) { for line in lines { self.line(line) } }
    package static func text(_ text: String) { bytes(Array(text.utf8)[...]) }
    package static func json(_ value: some Encodable) { line(JSONEncoding.text(of: value)) }

    package static func bytes(_ bytes: ArraySlice<UInt8>) {
        endProgress()
        // SIGPIPE has usually ended the process when a reader left.
        if writeAll(bytes, to: STDOUT_FILENO) || errno == EPIPE { return }
        Failure.file("standard output", "cannot be written", errno).exit()
    }

    /// Notices quote files and other programs, and have no colours: nothing in them steers a terminal.
    package static func notice(_ text: String) {
        endProgress()
        _ = writeAll(Array((text.printableLines + "\n").utf8)[...], to: STDERR_FILENO)
    }

    private static let isProgressShown = Atomic<Bool>(false)
    private static let clearedLine = "\r\u{1b}[K"

    /// A line that replaces itself, until anything else is written; only for a terminal on standard error. It is cut to the
    /// terminal's width, of `subject` first, from its beginning: a longer line would not be replaced.
    package static func progress(_ text: String, of subject: String = "") {
        guard isErrorTerminal else { return }
        // In its last column some terminals begin the next line.
        let room = max(1, width(of: STDERR_FILENO, otherwise: 80) - 1)
        var line = subject.isEmpty ? text : "\(subject): \(text)"
        if !subject.isEmpty, line.count > room { line = "…\(subject.suffix(max(0, room - text.count - 3))): \(text)" }
        _ = writeAll(Array("\(clearedLine)\(line.prefix(room))".utf8)[...], to: STDERR_FILENO)
        isProgressShown.store(true, ordering: .relaxed)
    }

    package static func endProgress() {
        if isProgressShown.exchange(false, ordering: .relaxed) {
            _ = writeAll(Array(clearedLine.utf8)[...], to: STDERR_FILENO)
        }
    }

    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    package static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    package static var width: Int {
        width(of: STDOUT_FILENO, otherwise: environment("COLUMNS").flatMap { Int($0) } ?? 100)
    }

    package static var height: Int { size(of: STDOUT_FILENO).map { Int($0.ws_row) } ?? 24 }

    private static func width(of descriptor: Int32, otherwise: Int) -> Int {
        size(of: descriptor).map { Int($0.ws_col) } ?? otherwise
    }

    private static func size(of descriptor: Int32) -> winsize? {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        return isKnown ? size : nil
    }
}

final class Progress {
    private let begin = Moment.now
    private var last = Moment.now

    package func show(_ text: @autoclosure () -> String, of subject: String = "") {
        let now = Moment.now
        // Ten times a second is more than anybody reads.
        guard now - last > .milliseconds(100), now - begin > .seconds(2) else { return }
        last = now
        Output.progress(text(), of: subject)
    }
}

package enum ColourChoice: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

package struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON value a line, for programs; none where there is nothing to list.") package
        var json = false

    @Option(name: .customLong("color"), help: .value("when", "Colours; auto: on a terminal, unless NO_COLOR is set."))
    package var colour = ColourChoice.auto

    package init() {}

    package var style: TerminalStyle {
        TerminalStyle(
            hasColour: colour == .always || colour == .auto && Output.isTerminal && environment("NO_COLOR") == nil)
    }

    package func show(_ value: JSONObject, _ lines: @autoclosure () -> [String]) { list([value], lines()) }
    package func show(_ value: some Described, _ lines: @autoclosure () -> [String]) { list([value.json], lines()) }

    package func list(_ values: [some Encodable], _ lines: @autoclosure () -> [String]) {
        Output.lines(json ? values.map { JSONEncoding.text(of: $0) } : lines())
    }
}

/// - Parameter isFolded: on a terminal what a row is too long for continues below its last column.
package func columns(_ rows: [[String]], folded isFolded: Bool = false) -> [String] {
    let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
        rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    let lines = rows.map { row in
        var line = row.enumerated().map { $1.rightPadded(widths[$0]) }.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
    guard isFolded, Output.isTerminal else { return lines }
    let lastColumn = widths.dropLast().reduce(0) { $0 + $1 + 2 }
    return lines.flatMap { TextColumns.fold($0, width: Output.width, hang: lastColumn) }
}

extension String {
    package func leftPadded(_ columns: Int) -> String { String(repeating: " ", count: max(0, columns - count)) + self }
    func rightPadded(_ columns: Int) -> String { self + String(repeating: " ", count: max(0, columns - count)) }

    /// `printable`, with its lines and tabs as they are.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\t")
        }.joined(separator: "\n")
    }

    var withoutLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}

extension Int {
    var grouped: String { Workbench.grouped(self) }
    package func counted(_ what: String) -> String { Workbench.count(self, what) }
}

extension Duration {
    package var seconds: String { (Double(wholeNanoseconds) / 1e9).shortDescription }
    var roundSeconds: Double { Double(wholeNanoseconds / 1_000_000) / 1000 }
}
