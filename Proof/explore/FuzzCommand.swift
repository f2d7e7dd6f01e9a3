import Arbiter
import ArbiterProtocol
import Campaigns
import Glibc
import PolicyFile
import Scenario
import Synchronization
import Workbench

/// `explore fuzz`: random cases under random policies, in child processes, and the smallest scenario for each way in which they break a
/// promise.
struct FuzzCommand {
    private let campaign: FuzzCampaign
    private let threads: Int
    private let time: Duration?
    /// For the smallest scenarios.
    private let folder: String?
    private let onlyPrints: Bool
    private let judging: Judging
    private let begun = ContinuousClock.now

    static let usage = """
               explore fuzz [--seed N] [--runs N | --minutes M]      random runs under random policies
                            [--first N] [--threads N] [--no-sharing]
                            --keep-going: one smallest scenario for each way to break a promise; --save DIR: keeps them
                            --print: only prints the runs
                            --metamorphoses: tries behind each line what changes nothing, in place of the reference
        """

    enum Judging: String {
        case reference
        case metamorphoses

        var judge: any FuzzJudge {
            switch self {
            case .reference: ReferenceJudge()
            case .metamorphoses: MetamorphicJudge()
            }
        }
    }

    init?(_ line: inout Arguments) {
        var options = FuzzCampaign.Options()
        let minutes = line.option("--minutes")
        let runs = line.option("--runs")
        options.seed = line.option("--seed").flatMap { UInt64($0) } ?? 1
        options.first = line.option("--first").flatMap { Int($0) } ?? 0
        options.runs = runs.flatMap { Int($0) } ?? (minutes == nil ? 1000 : nil)
        options.shares = !line.flag("--no-sharing")
        options.keepsGoing = line.flag("--keep-going")
        threads = line.option("--threads").flatMap { Int($0) } ?? 2
        folder = line.option("--save")
        onlyPrints = line.flag("--print")
        judging = line.flag("--metamorphoses") ? .metamorphoses : .reference
        time = minutes.flatMap { Double($0) }.map { .seconds($0 * 60) }
        guard line.arguments.isEmpty, threads > 0, runs == nil || options.runs != nil,
            minutes == nil || time != nil
        else { return nil }
        campaign = FuzzCampaign(options)
    }

    func run() async -> Int32 {
        // The end of a child is seen when its answer is read.
        signal(SIGPIPE, SIG_IGN)
        if onlyPrints { return printStories() }
        let progress = FuzzProgress()
        await side { live(progress) }
        progress.clear()
        let findings = campaign.findings
        let work = Mutex(Work())
        await side {
            let child = FuzzChild(judging)
            while let index = work.withLock({ $0.take(of: findings.count) }) {
                let text = report(findings[index], child)
                work.withLock { $0.say(text, index) }
            }
        }
        print(summary(findings))
        return findings.isEmpty ? 0 : 1
    }

    private func side(_ body: @escaping @Sendable () -> Void) async {
        await withTaskGroup { group in for _ in 0..<threads { group.addTask { body() } } }
    }

    private func live(_ progress: FuzzProgress) {
        let child = FuzzChild(judging)
        while let number = campaign.next() {
            let verdict = child.run(number, seed: campaign.options.seed, shares: campaign.options.shares)
            campaign.note(number, verdict)
            let passed = ContinuousClock.now - begun
            if let time, passed >= time { campaign.stop() }
            progress.show(passed) { [campaign] in
                "\(campaign.tally.runs) runs, \(campaign.tally.broken) broke a promise"
            }
        }
    }

    private func printStories() -> Int32 {
        let options = campaign.options
        do throws(PolicyGenerator.Altered) {
            while let number = campaign.next() {
                let fuzzCase = try FuzzCampaign.fuzzCase(number, seed: options.seed, shares: options.shares)
                print(fuzzCase.text("Fuzz \(options.seed)/\(number)."))
            }
            return 0
        } catch {
            print("this policy reads back as another one:\n\(error.text)")
            return 1
        }
    }

    /// Findings to shrink, and their reports, which are printed in the order of the findings.
    private struct Work {
        private var taken = 0
        private var said = 0
        private var texts: [Int: String] = [:]

        mutating func take(of count: Int) -> Int? {
            guard taken < count else { return nil }
            defer { taken += 1 }
            return taken
        }

        mutating func say(_ text: String, _ index: Int) {
            texts[index] = text
            while let text = texts.removeValue(forKey: said) {
                print(text)
                said += 1
            }
        }
    }

    private func report(_ finding: FuzzCampaign.Finding, _ child: FuzzChild) -> String {
        let options = campaign.options
        let place = "\(options.seed)/\(finding.number)"
        let said = finding.broken.message
        var text = "# Fuzz \(place): \(said)\n"
        do throws(PolicyGenerator.Altered) {
            let fuzzCase = try FuzzCampaign.fuzzCase(finding.number, seed: options.seed, shares: options.shares)
            // Each run of an endless case takes seconds.
            let runsMax = said == FuzzChild.endless ? 300 : FuzzShrinker.runsUsual
            var shrinker = FuzzShrinker(fuzzCase, finding.broken, runsMax: runsMax) { child.run($0) }
            let smallest = shrinker.shrink()
            // The smallest case has other numbers in its message.
            let message = child.run(smallest.text("The smallest.")).broken?.message ?? said
            text = smallest.text("Fuzz \(place): \(String(message.map { $0.isNewline ? " " : $0 }))")
        } catch { text += error.text }
        keep(text, finding)
        let judging = judging == .reference ? "" : " --\(judging.rawValue)"
        let again = "explore fuzz\(judging) --seed \(options.seed) --first \(finding.number) --runs 1"
        return """
            ── \(finding.promise)
            in \(finding.count) of the runs; run \(place): \(said)
            again: \(again)\(options.shares ? "" : " --no-sharing")

            \(text)
            """
    }

    private func keep(_ text: String, _ finding: FuzzCampaign.Finding) {
        guard let folder else { return }
        // File systems bound names.
        let path = "\(folder)/\(finding.promise.fileName.prefix(100)).scenario"
        do { try Scenario.write(text, path: path) } catch { print(error) }
    }

    private func summary(_ findings: [FuzzCampaign.Finding]) -> String {
        let tally = campaign.tally
        let met = FuzzFeature.allCases.sorted { (tally.features[$1] ?? 0) < (tally.features[$0] ?? 0) }.compactMap {
            feature in tally.features[feature].map { "\(feature.words) \($0)" }
        }
        let unmet = FuzzFeature.allCases.filter { tally.features[$0] == nil }.map(\.words)
        let events = tally.kinds.missing.map(\.rawValue)
        var lines = ["met in runs: \(met.joined(separator: ", "))"]
        if !unmet.isEmpty { lines.append("never met: \(unmet.joined(separator: ", "))") }
        if !events.isEmpty { lines.append("events that never happened: \(events.joined(separator: ", "))") }
        // In the order of the language; attributes come last.
        let own = tally.said.keys.filter { !PolicyFile.language.contains($0) }.sorted()
        let said = (PolicyFile.language + own).map { "\($0) \(tally.said[$0] ?? 0)" }
        lines.append("policies that said each key: \(said.joined(separator: ", "))")
        let compared =
            judging == .reference ? "compared with the reference" : "compared with what should change nothing"
        lines.append("\(compared) \(tally.compared) times, to their ends in \(tally.features[.compared] ?? 0) runs")
        lines += findings.map { "\($0.count) runs: \($0.promise)" }
        lines.append(
            "fuzzed \(tally.policies) policies in \(tally.runs) runs of \(tally.steps) steps, seed \(campaign.options.seed): "
                + "\(tally.broken) runs broke a promise, in \(findings.count) ways")
        return lines.joined(separator: "\n")
    }
}

/// One line on a terminal, after a while.
final class FuzzProgress: Sendable {
    private let last = Mutex(Duration.zero)
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private static let patience = Duration.seconds(2)
    private static let pause = Duration.milliseconds(250)

    func show(_ passed: Duration, _ words: () -> String) {
        guard isTerminal, passed >= Self.patience else { return }
        let isDue = last.withLock { last in
            if passed - last < Self.pause { return false }
            last = passed
            return true
        }
        if isDue { say("\r\u{1B}[K\(words())") }
    }

    func clear() { if isTerminal, last.withLock({ $0 > .zero }) { say("\r\u{1B}[K") } }

    private func say(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
