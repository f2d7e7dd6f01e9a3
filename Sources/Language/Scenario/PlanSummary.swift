import Arbiter
import ArbiterProtocol
import Explain

import struct Explain.Explanation

/// The result of a plan, as comments behind its lines: the sessions that it interrupts, in their order, with rule and
/// cut recording; and for each failing request the smallest change that would let it through.
struct PlanSummary {
    /// As many ways out as fit below a request without hiding the rest.
    private static let changesMax = 3

    let lines: [String]
    /// False where `mayGoOn` ended it early.
    let isWhole: Bool

    /// - Parameter stage: behind the plan, with its steps and its history.
    init(of stage: Stage, from origin: Moment, names: Names, while mayGoOn: () -> Bool) {
        var ahead = stage
        // Decisions that only wait for their time belong to the answer.
        ahead.settle()
        let asked = Self.asked(stage)
        let writer = ScenarioWriter(names: names, origin: origin)
        var lines = Self.interruptions(ahead.steps, besides: asked, writer)
        var isWhole = !ahead.wasStopped
        for session in asked {
            lines += Self.failure(of: session, stage, ahead, writer, while: mayGoOn)
            // Asked once more behind each search, which ends early when time does.
            isWhole = isWhole && mayGoOn()
            if !isWhole { break }
        }
        self.isWhole = isWhole
        self.lines = lines.map { "# \($0)" }
    }

    private static func asked(_ stage: Stage) -> [SessionID] {
        stage.steps.compactMap { if case .startRunning(let session) = $0.event { session } else { nil } }.eachOnce
    }

    private static func interruptions(
        _ steps: [Stage.Step], besides asked: [SessionID], _ writer: ScenarioWriter
    ) -> [String] {
        var found: [String] = []
        var told: [SessionID: Moment] = [:]
        var running = Set<SessionID>()
        for step in steps {
            let at = Self.time(step.moment, writer)
            for case .notify(_, let session, _, let event) in step.effects {
                let name = writer.names.name(of: session).scenarioWord
                let warned = told[session].map { ", told at \(time($0, writer))" } ?? ""
                switch event {
                case .didStartRunning: running.insert(session)
                case .willBeInterrupted: told[session] = step.moment
                case .interruptionWithdrawn: told[session] = nil
                case .wasInterrupted(let news):
                    // A request that is interrupted at once interrupts nobody.
                    guard !asked.contains(session) || running.contains(session) else { continue }
                    let cut = news.recording.map { "; cuts recording \($0)" } ?? ""
                    found.append(
                        "\(name) at \(at): \(ScenarioWriter.text(of: news.causes)) because \"\(news.rule)\"\(warned)\(cut)"
                    )
                    told[session] = nil
                case .sessionStopped(let news):
                    found.append(
                        "\(name) at \(at): stopped, \(news.reason.rawValue), because \"\(news.rule)\"\(warned)")
                    told[session] = nil
                case .accessChanged(let news) where news.access != .all:
                    let rights = news.access.names.joined(separator: "+")
                    found.append("\(name) at \(at): only \(rights) because \"\(news.rule)\"")
                default: break
                }
            }
        }
        guard !found.isEmpty else { return ["Nobody would be interrupted."] }
        return ["Interrupted, in this order:"] + found.enumerated().map { "  \($0.offset + 1). \($0.element)" }
    }

    /// To a hundredth of a second: nobody reads nanoseconds.
    private static func time(_ moment: Moment, _ writer: ScenarioWriter) -> String {
        let step: Int64 = 10_000_000
        let nanoseconds = (moment - writer.origin).wholeNanoseconds
        return TimeText.write(.nanoseconds((nanoseconds + step / 2) / step * step))
    }

    private static func failure(
        of session: SessionID, _ stage: Stage, _ ahead: Stage, _ writer: ScenarioWriter, while mayGoOn: () -> Bool
    ) -> [String] {
        guard let status = ahead.arbiter.status(of: session), status.state != .running, status.state != .starting
        else { return [] }
        let name = writer.names.name(of: session).scenarioWord
        guard let verdict = lastLoss(of: session, stage, while: mayGoOn) else {
            // It had asked before; `explain` has the decision that made it wait.
            guard status.state == .interrupted else { return [] }
            let why = "\(ScenarioWriter.text(of: status.causes))\(status.rule.map { " because \"\($0)\"" } ?? "")"
            let against = status.waitsFor.map { ", against \($0.name)" } ?? ""
            return ["\(name) has asked already, and would go on waiting: \(why)\(against)."]
        }
        let what = if case .interrupted = verdict.outcome { "would wait" } else { "would be refused" }
        let against = verdict.opponent.map { ", against \(writer.names.name(of: $0))" } ?? ""
        let line = "\(name) \(what) because \"\(verdict.rule)\"\(against)."
        guard !verdict.changedBy.isEmpty else {
            return ["\(line) Nothing found that would let it through; tried: \(verdict.searched?.words ?? "nothing")."]
        }
        let changes = verdict.changedBy.prefix(changesMax).map(\.words)
        return ["\(line) It would get through with:"]
            + changes.enumerated().map { "  \($0.offset == 0 ? "" : "or ")\($0.element)" }
    }

    /// The latest verdict of the plan that took the camera from the session, or kept it; of each decision the last.
    private static func lastLoss(
        of session: SessionID, _ stage: Stage, while mayGoOn: () -> Bool
    ) -> Explanation.Verdict? {
        var seen: Set<DecisionID> = []
        for step in stage.steps.reversed() {
            guard let found = step.verdicts.last(where: { $0.session == session }),
                seen.insert(step.decision).inserted, found.outcome != .granted
            else { continue }
            let explanation = stage.history?.explain(step.decision, of: stage.arbiter, while: mayGoOn)
            // A long plan's first decisions have expired.
            return explanation?.verdicts.last { $0.session == session }
                ?? Explanation.Verdict(found, under: stage.arbiter.policy)
        }
        return nil
    }
}
