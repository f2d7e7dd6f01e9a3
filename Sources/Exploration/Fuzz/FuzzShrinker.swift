import Arbiter
import ArbiterProtocol

/// Takes away from a story what it does not need to break its promise: lines, then rules and keys of its policies, words
/// and cameras, and then time; over and over, until nothing more can go.
///
/// A smaller story counts when the first promise that it breaks is of the same class. That it breaks it by the same
/// mistake is likely, and nobody can say more from outside.
public struct FuzzShrinker {
    private let promise: PromiseClass
    private let runsMax: Int
    private let run: (String) -> FuzzVerdict
    var best: FuzzStory
    public private(set) var runs = 0

    /// More runs are seldom worth their time: most stories are small after a tenth.
    public static let runsUsual = 3000

    /// - Parameter run: what becomes of a text; in another process, where the story stops the process.
    public init(
        _ story: FuzzStory, _ broken: FuzzVerdict.Broken, runsMax: Int = runsUsual,
        run: @escaping (String) -> FuzzVerdict
    ) {
        promise = broken.promise
        self.runsMax = runsMax
        self.run = run
        best = story
        best.cut(behind: broken)
    }

    /// The smallest story that was found.
    public mutating func shrink() -> FuzzStory {
        var before: FuzzStory
        repeat {
            before = best
            dropLines()
            mergeClients()
            simplifyPolicies()
            dropWords()
            dropCameras()
            shortenTimes()
            if before == best { dropPairs() }
        } while before != best && runs < runsMax
        return best
    }

    /// Keeps the smaller story where it breaks the same promise.
    mutating func accept(_ candidate: FuzzStory) -> Bool {
        guard candidate != best, runs < runsMax else { return false }
        runs += 1
        guard let broken = run(candidate.text("Smaller.")).broken, broken.promise == promise else { return false }
        best = candidate
        best.cut(behind: broken)
        return true
    }
}

extension FuzzStory {
    /// Nothing behind the moment at which a promise was broken plays a part in that.
    fileprivate mutating func cut(behind broken: FuzzVerdict.Broken) {
        guard let count = broken.lines, count <= lines.count else { return }
        lines.removeSubrange(count...)
        if broken.moment > lines.last?.at ?? .zero { lines.append(Line(at: broken.moment, text: "")) }
    }
}

// MARK: Lines

extension FuzzShrinker {
    /// Halves first, then quarters, down to single lines; from the end, where less depends on them.
    private mutating func dropLines() {
        var size = max(1, best.lines.count / 2)
        while true {
            var end = best.lines.count
            while end > 0 {
                let start = max(0, end - size)
                if drop(start..<end) { end = min(start, best.lines.count) } else { end = start }
            }
            if size == 1 { return }
            size /= 2
        }
    }

    /// Two that only count together, such as `sleep` and `wake`.
    private mutating func dropPairs() {
        var last = best.lines.count - 1
        while last > 0 {
            for first in 0..<last {
                var smaller = best
                smaller.lines.remove(at: last)
                smaller.lines.remove(at: first)
                smaller.lines = smaller.lines.withoutOrphans
                if accept(smaller) { break }
            }
            last = min(last, best.lines.count) - 1
        }
    }

    private mutating func drop(_ range: Range<Int>) -> Bool {
        var smaller = best
        smaller.lines.removeSubrange(range)
        smaller.lines = smaller.lines.withoutOrphans
        return accept(smaller)
    }

    /// The sessions of two clients as those of one.
    private mutating func mergeClients() {
        for index in best.lines.indices.reversed() where index < best.lines.count {
            guard case .client(let name)? = best.lines[index].gives else { continue }
            for other in best.lines[..<index].compactMap(\.gives).reversed() {
                guard case .client(let heir) = other else { continue }
                var smaller = best
                smaller.lines.remove(at: index)
                for line in smaller.lines.indices { smaller.lines[line].rename(client: name, to: heir) }
                if accept(smaller) { break }
            }
        }
    }

    private mutating func dropWords() {
        var index = best.lines.count
        while index > 0 {
            index -= 1
            guard index < best.lines.count else { continue }
            var word = best.lines[index].words.count
            // What is left without its command or its name is no line.
            while word > 2, index < best.lines.count {
                word -= 1
                var words = best.lines[index].words
                guard word < words.count else { continue }
                words.remove(at: word)
                var smaller = best
                smaller.lines[index].text = words.joined(separator: " ")
                _ = accept(smaller)
            }
        }
    }

    private mutating func dropCameras() {
        for index in best.cameras.indices.reversed() {
            var smaller = best
            smaller.cameras.remove(at: index)
            // Without any there would be two that nobody asked for.
            if !smaller.cameras.isEmpty, accept(smaller) { continue }
            for words in ["", best.cameras[index].words.split(separator: " ").first.map(String.init) ?? ""] {
                smaller = best
                smaller.cameras[index].words = words
                if accept(smaller) { break }
            }
        }
    }
}

// MARK: Times

extension FuzzShrinker {
    private static let gaps: [Duration] = [
        .zero, .milliseconds(1), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2),
        .seconds(3), .seconds(5), .seconds(10), .seconds(20), .seconds(30), .seconds(60), .seconds(70), .seconds(600),
    ]

    /// Each time between two lines as short as it may be, and a round one.
    private mutating func shortenTimes() {
        for index in best.lines.indices.reversed() where index < best.lines.count {
            let before = index == 0 ? Moment.zero : best.lines[index - 1].at
            let gap = best.lines[index].at - before
            for shorter in Self.gaps where shorter < gap {
                var smaller = best
                for later in index..<smaller.lines.count {
                    smaller.lines[later].at = before + (shorter + (smaller.lines[later].at - before - gap))
                }
                if accept(smaller) { break }
            }
        }
    }
}
