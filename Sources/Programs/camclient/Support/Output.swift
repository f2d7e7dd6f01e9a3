import ArbiterProtocol
import ArgumentParser
import Glibc
import Synchronization
import System
import Workbench

/// Lines on standard output and notices on standard error, each in one write: those of several processes do not mix.
enum Output {
    static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }
    static func lines(_ lines: some Sequence<String>) { for line in lines { self.line(line) } }
    static func text(_ text: String) { write(text, to: STDOUT_FILENO) }
    static func json(_ object: JSONObject) { line(JSONEncoding.text(of: object)) }
    static func json(_ described: JSON) { line(described.text) }
    static func bytes(_ bytes: ArraySlice<UInt8>) { write(bytes, to: STDOUT_FILENO) }
    /// Notices quote files and other programs, and have no colours: nothing in them steers a terminal.
    static func notice(_ text: String) { write(text.printableLines + "\n", to: STDERR_FILENO) }

    private static let isProgressShown = Atomic<Bool>(false)
    private static let clearedLine = "\r\u{1b}[K"

    /// A line that replaces itself, until anything else is written; only for a terminal on standard error. It fits the
    /// terminal, where it would leave a line behind each time: what does not is cut off, of `subject` first, from its beginning.
    static func progress(_ text: String, of subject: String = "") {
        guard isErrorTerminal else { return }
        // In its last column some terminals begin the next line.
        let room = max(1, width(of: STDERR_FILENO, otherwise: 80) - 1)
        var line = subject.isEmpty ? text : "\(subject): \(text)"
        if !subject.isEmpty, line.count > room { line = "…\(subject.suffix(max(0, room - text.count - 3))): \(text)" }
        write(Array("\(clearedLine)\(line.prefix(room))".utf8)[...], whole: STDERR_FILENO)
        isProgressShown.store(true, ordering: .relaxed)
    }

    static func endProgress() {
        if isProgressShown.exchange(false, ordering: .relaxed) {
            write(Array(clearedLine.utf8)[...], whole: STDERR_FILENO)
        }
    }

    private static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8)[...], to: descriptor) }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        endProgress()
        write(bytes, whole: descriptor)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, whole descriptor: Int32) {
        if writeAll(bytes, to: descriptor) { return }
        // A reader that left has seen enough; SIGPIPE has usually ended the process before this.
        if descriptor != STDOUT_FILENO || errno == EPIPE { return }
        Failure.exit(for: Failure.file("standard output", "cannot be written", errno))
    }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var isErrorTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Columns of the terminal; `$COLUMNS` or 100 where there is none.
    static var width: Int { width(of: STDOUT_FILENO, otherwise: environment("COLUMNS").flatMap { Int($0) } ?? 100) }

    private static func width(of descriptor: Int32, otherwise: Int) -> Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : otherwise
    }
}

/// A line on a terminal that says how far something is, once it has taken two seconds.
final class Progress {
    private let begin = Moment.now
    private var last = Moment.now

    func show(_ text: @autoclosure () -> String, of subject: String = "") {
        let now = Moment.now
        // Ten times a second is more than anybody reads.
        guard now - last > .milliseconds(100), now - begin > .seconds(2) else { return }
        last = now
        Output.progress(text(), of: subject)
    }
}

enum ColourChoice: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "One JSON value a line, for programs.") var json = false

    @Option(name: .customLong("color"), help: .value("when", "auto: on a terminal, unless NO_COLOR is set."))
    var colour = ColourChoice.auto

    var style: TerminalStyle {
        switch colour {
        case .always: TerminalStyle(hasColour: true)
        case .never: TerminalStyle(hasColour: false)
        case .auto: TerminalStyle(hasColour: Output.isTerminal && environment("NO_COLOR") == nil)
        }
    }

    func show(_ object: JSONObject, _ lines: @autoclosure () -> [String]) { list([object], lines()) }
    func show(described: JSON, _ lines: @autoclosure () -> [String]) { list([described], lines()) }

    func list(_ values: [some Encodable], _ lines: @autoclosure () -> [String]) {
        guard json else { return Output.lines(lines()) }
        Output.lines(values.map { JSONEncoding.text(of: $0) })
    }
}
