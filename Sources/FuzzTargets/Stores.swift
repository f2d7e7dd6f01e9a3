import ArbiterProtocol
import Broker
import RecorderCore

/// What the broker reads of its own, which may have been cut, or written by another release or by hand.
extension FuzzTarget {
    /// A line that counts reads back as the same when it is written, and so does a file of such lines: nothing is read into
    /// it, and nothing is lost.
    static func answers(_ bytes: [UInt8]) {
        let read = lines(bytes)
        let kept = read.filter { if case .unreadable = $0 { false } else { true } }
        let written = kept.map { line in
            switch line {
            case .answer(let answer): answer.line + "\n"
            case .isPrivate, .unreadable: "private\n"
            }
        }.joined()
        precondition(lines(Array(written.utf8)) == kept, "Answers read back as others:\n\(written)")
    }

    private static func lines(_ bytes: [UInt8]) -> [KeptLines.Line] {
        var rest = KeptLines(bytes)
        var lines: [KeptLines.Line] = []
        while let line = rest.next() { lines.append(line) }
        precondition(
            lines.count <= rest.answersMax, "\(lines.count) lines were read of at most \(rest.answersMax).")
        return lines
    }

    /// The same of holders and of grants that outlive a broker. A listener's name never leads out of its folder, a secret is
    /// equal to itself alone, and a microphone is one that there can be.
    static func holders(_ bytes: [UInt8]) {
        let (holders, strange) = StoredHolder.read(bytes)
        let lines = bytes.split(separator: UInt8(ascii: "\n")).count
        precondition(
            holders.count + strange.count == lines, "Of \(lines) lines \(holders.count) count, and \(strange) do not.")
        var written = ""
        for holder in holders {
            guard let line = holder.line else {
                preconditionFailure("A holder that was read cannot be written: \(holder)")
            }
            written += line + "\n"
            guard let kept = holder.kept else { continue }
            precondition(
                StoredHolder.isListener(kept.listener) && !kept.listener.contains("/"),
                "A listener leads elsewhere: \(kept.listener)")
            precondition(
                kept.grant.rawValue > 0 && kept.microphone?.problem == nil, "A grant is kept that cannot be: \(line)")
            precondition(kept.secret.map { $0.equals($0) } != false, "A secret is not equal to itself.")
        }
        let (again, strangers) = StoredHolder.read(Array(written.utf8))
        precondition(
            strangers.isEmpty && again.map(\.line) == holders.map(\.line),
            "Holders read back as others: \(again.map(\.line)), and as none \(strangers)\n\(written)")
    }
}
