import CEdit
import Glibc
import System
import WorkbenchCommands

/// The lines that somebody types on a terminal: edited, completed, and kept over sessions. Between two lines the terminal is as
/// it was before.
///
/// A thread at a time uses it: one that reads a line, which waits there while a word is completed.
final class LineEditor: @unchecked Sendable {
    /// As many lines as somebody looks back through.
    private static let historyMax = 500

    /// Of the line up to the cursor: the letters to insert, and where there are none, the words to choose from.
    typealias Completion = @Sendable (_ before: String) -> (inserted: String, shown: [String])

    private let complete: Completion
    private let history: String?
    private var terminal = termios()
    private var edit: OpaquePointer?

    /// - Parameter prompt: of ASCII letters.
    /// - Returns: nil where nobody types, or the terminal cannot move its cursor.
    init?(prompt: String, history: String?, completing complete: @escaping Completion) {
        (self.complete, self.history) = (complete, history)
        let isAble = environment("TERM").map { $0 != "dumb" } ?? false
        guard isAble, Output.isInputTerminal, Output.isTerminal, tcgetattr(STDIN_FILENO, &terminal) == 0 else {
            return nil
        }
        edit = camarb_edit_new(
            prompt, Int32(Self.historyMax),
            { context, before in
                guard let context, let before else { return }
                let editor = Unmanaged<LineEditor>.fromOpaque(context).takeUnretainedValue()
                editor.answerTab(String(cString: before))
            }, Unmanaged.passUnretained(self).toOpaque())
        guard edit != nil else { return nil }
        if let history { _ = camarb_edit_load(edit, history) }
        endOnInterrupt()
    }

    deinit { if let edit { camarb_edit_free(edit) } }

    func next() async -> String? {
        await withCheckedContinuation { next in
            // With the caller's signals: reading a terminal from the background stops the program as usual.
            let reader = makeThread { [self] in next.resume(returning: read()) }
            if let reader { pthread_detach(reader) } else { next.resume(returning: nil) }
        }
    }

    private func read() -> String? {
        while true {
            var line: UnsafePointer<CChar>?
            switch camarb_edit_next(edit, &line) {
            case camarb_edit_line:
                keep()
                return line.map { String(cString: $0) }
            case camarb_edit_abandoned: continue
            default: return nil
            }
        }
    }

    private func answerTab(_ before: String) {
        let (inserted, shown) = complete(before)
        guard inserted.isEmpty else { return camarb_edit_insert(edit, inserted) }
        guard !shown.isEmpty else { return }
        let width = (shown.map(\.count).max() ?? 0) + 2
        let inRow = max(1, Output.width / width)
        let rows = stride(from: 0, to: shown.count, by: inRow).map { Array(shown[$0..<min($0 + inRow, shown.count)]) }
        camarb_edit_show(edit, columns(rows).joined(separator: "\n"))
    }

    /// Writes the history in one step. Where it cannot be written, the shell goes on without.
    private func keep() {
        guard let history else { return }
        for place in history.indices.dropFirst() where history[place] == "/" { mkdir(String(history[..<place]), 0o700) }
        let unfinished = "\(history).\(getpid())"
        if camarb_edit_save(edit, unfinished) < 0 || rename(unfinished, history) != 0 { unlink(unfinished) }
    }

    /// SIGTERM, and Ctrl-C while a command is carried out, end the process with the terminal as it was.
    private func endOnInterrupt() {
        let (interrupts, terminal) = (Interrupts.stream(), terminal)
        Task.detached {
            for await _ in interrupts {
                var terminal = terminal
                tcsetattr(STDIN_FILENO, TCSANOW, &terminal)
                exit(128 + SIGINT)
            }
        }
    }
}
