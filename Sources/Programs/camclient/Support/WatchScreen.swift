import ArbiterProtocol
import Glibc
import Workbench
import WorkbenchCommands

/// A screen of its own on the terminal, which shows lines in the place of the last ones, and gives the terminal back as it was.
/// Used by one task.
final class WatchScreen {
    private static let begin = "\u{1b}[?1049h\u{1b}[?25l"
    private static let end = "\u{1b}[?25h\u{1b}[?1049l"
    private static let home = "\u{1b}[H"
    private static let restOfLine = "\u{1b}[K"
    private static let restOfScreen = "\u{1b}[J"
    /// The rest of a line that is too long is indented by as much more.
    private static let hang = 4

    private var terminal = termios()
    private var lines: [String] = []

    /// - Returns: nil where standard output is no terminal.
    init?() { guard Output.isTerminal, tcgetattr(STDOUT_FILENO, &terminal) == 0 else { return nil } }

    func begin() {
        var quiet = terminal
        // Keys that somebody presses do not stand between the lines; Ctrl-C is a signal as before.
        quiet.c_lflag &= ~tcflag_t(ECHO | ICANON)
        tcsetattr(STDOUT_FILENO, TCSANOW, &quiet)
        Output.text(Self.begin)
    }

    func end() {
        Output.text(Self.end)
        tcsetattr(STDOUT_FILENO, TCSANOW, &terminal)
    }

    func show(_ lines: [String]) {
        self.lines = lines
        draw(lines)
    }

    /// Shows a sentence with the last lines below it.
    func show(above sentence: String) { draw([sentence.printable, ""] + lines) }

    private func draw(_ lines: [String]) {
        let (width, height) = (Output.width, Output.height)
        var rows = lines.flatMap { TextColumns.fold($0, width: width, hang: $0.prefix { $0 == " " }.count + Self.hang) }
        let hidden = rows.count - height
        if hidden > 0 { rows = rows.prefix(height - 1) + ["… and \(hidden + 1) more lines"] }
        let text = rows.map { $0 + Self.restOfLine }.joined(separator: "\n")
        Output.text(Self.home + text + Self.restOfScreen)
    }
}
