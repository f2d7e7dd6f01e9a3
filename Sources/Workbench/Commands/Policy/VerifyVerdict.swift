import ArbiterProtocol
import PolicyFile
import System
import Workbench

struct VerifyVerdict {
    let file: String
    let dropIns: String?
    let walk: PolicyWalk
    let report: PolicyWalk.Report
    let took: Duration
    /// Shows the same as a page.
    let page: String

    private var statements: [Statement] { walk.policy.statements }
    private var everything: Bool { walk.scope == .everything }

    var problems: [String] { walk.problems(report) }

    /// Standard output has the scenario alone, so that it can be kept as a file.
    func show() {
        for problem in problems { Output.notice("\(file): \(problem)") }
        guard let finding = report.finding else { return Output.lines(lines) }
        Output.notice("\(file): \(finding.message), after \(finding.length.counted("step")); \(figures)")
        Output.notice("  \(page)")
        Output.line(finding.scenario.withoutLastNewline)
    }

    private var lines: [String] {
        // Statements about time are walked while the machine does nothing by itself.
        let timed = everything ? report.timed?.applied.count ?? 0 : 0
        let others = statements.count - timed - settled.count
        let held =
            others == 0
            ? "the broker's promises hold" : "the broker's promises and \(others.counted("statement")) hold"
        var lines: [String] = []
        if let cut = report.cutOffBy {
            lines = [
                "\(file): NOT COMPLETE, cut off \(cut.sentence) to a depth of \(report.depth): \(held) as far as it "
                    + "went, in \(populations), \(size)", "  to walk all of it: \(advice)",
                "  \(page)",
            ]
        } else if !isWhole {
            lines = [
                "\(file): NOT WHOLE, no walk reads \(notWalked.joined(separator: ", ")), which the policy says: "
                    + "\(held) in what was walked, every state of \(populations), \(size)"
            ]
        } else {
            lines = ["\(file): \(held) in every state of \(populations), \(size)"]
        }
        if timed > 0 {
            lines.append(
                "  \(timed.counted("statement")) about time: held in what follows, while the machine does nothing by itself"
            )
        }
        if !settled.isEmpty {
            lines.append(
                "  \(settled.count.counted("statement")) about time: kept on each camera by leases and their pauses, by "
                    + "arithmetic; nothing was walked for it")
        }
        lines.append("  \(figures)")
        if let fair = report.fairness {
            lines.append(
                "  looked for loops in \(fair.states.counted("state")) and \(fair.transitions.counted("transition")) "
                    + "of \(fair.worlds.counted("world")), mirror images told apart and leases counted")
        }
        if let timed = report.timed, !timed.applied.isEmpty { lines.append("  \(figures(timed))") }
        lines += statements.indices.map { place in
            if settled.contains(place) { return "  kept by arithmetic: \(statements[place].name)" }
            let applied = report.applied[place]
            return "  applied in \(applied == 0 ? "no state" : applied.counted("state")): \(statements[place].name)"
        }
        lines += larger.map { "  larger worlds may differ: \($0)" }
        return lines + ["  never varied: \(walk.neverVaried.joined(separator: ", "))"]
    }

    /// The places of statements that leases and pauses settle.
    private var settled: [Int] { report.timed?.settled ?? [] }

    private var notWalked: [String] { walk.keysNotWalked.map(\.description) }

    var isWhole: Bool { notWalked.isEmpty }

    private var larger: [String] { SizeArgument(walk.policy, clients: walk.clients, cameras: walk.cameras).sentences }

    private var advice: String {
        var ways = ["--max-time, --max-states and --max-memory allow more", "--resume FILE goes on later"]
        if walk.clients > 1 { ways.append("--clients \(walk.clients - 1) has smaller worlds") }
        if report.populationsInAll > 1 { ways.append("--pairs has fewer populations") }
        // Smaller worlds have as many steps of time.
        if let timed = report.timed, timed.cutOffBy != nil, let step = timed.step {
            ways.append("times of the policy that are multiples of more than \(step.shortText) make fewer steps")
        }
        return ways.joined(separator: ", ")
    }

    private var populations: String { populationsWords(report.populations, of: report.populationsInAll) }

    private var size: String {
        worldWords(walk.clients, walk.cameras) + (everything ? ", whatever the machine does" : "")
    }

    private static func worlds(_ walked: Int, of all: Int) -> String {
        walked < all ? "\(walked.grouped) of \(all.grouped) worlds" : walked.counted("world")
    }

    private static func walked(_ states: Int, _ transitions: Int, _ worlds: String) -> String {
        "walked \(states.counted("state")) and \(transitions.counted("transition")) of \(worlds)"
    }

    private var figures: String {
        Self.walked(report.states, report.transitions, Self.worlds(report.worlds, of: report.worldsInAll))
            + " in \(took.shortText), \(SearchOptions.rate(report.transitions, took).grouped) transitions a second"
    }

    /// The walk for the statements about time is smaller, since it counts every wait and hold.
    private func figures(_ timed: PolicyWalk.TimedReport) -> String {
        let step =
            timed.step.map { "time in steps of \($0.shortText)" }
            ?? "time from deadline to deadline; events between deadlines were not walked"
        let cut = timed.cutOffBy.map { "; cut off \($0.sentence)" } ?? ""
        return "for \(timed.applied.count.counted("statement")) about time: "
            + Self.walked(timed.states, timed.transitions, Self.worlds(timed.worlds, of: timed.worldsInAll))
            + ", \(worldWords(timed.clients, timed.cameras)), \(step)\(cut)"
    }

    var json: JSONObject {
        [
            "file": file, "clients": walk.clients, "cameras": walk.cameras, "casts": report.populations,
            "castsInAll": report.populationsInAll, "worlds": report.worlds, "worldsInAll": report.worldsInAll,
            "everything": everything, "states": report.states, "transitions": report.transitions,
            "depth": report.depth,
            "statements": statements.indices.map { place in
                [
                    "name": statements[place].name, "applied": report.applied[place],
                    "keptByArithmetic": settled.contains(place) ? true : nil,
                ] as JSONObject
            }, "problems": problems, "neverVaried": walk.neverVaried, "notWalked": notWalked,
            "largerMayDiffer": larger, "complete": report.isComplete, "fairness": report.fairness?.json,
            "timed": report.timed?.json, "cutOffBy": report.cutOffBy?.rawValue, "seconds": took.roundSeconds,
            "transitionsPerSecond": SearchOptions.rate(report.transitions, took), "broken": report.finding.map(json),
        ]
    }

    static func origins(_ file: String, _ dropIns: String?) -> (PolicyPart) -> String? {
        let loaded = try? PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts())
        return { part in loaded?.origins[part].map { "\($0.file.fileName):\($0.line)" } }
    }

    private func json(_ finding: PolicyWalk.Finding) -> JSONObject {
        let origin = Self.origins(file, dropIns)
        let loop: JSONObject? = finding.loop.map { ["stem": $0.stem, "around": $0.around] }
        return [
            "message": finding.message, "statement": finding.statement, "length": finding.length,
            "scenario": finding.scenario, "loop": loop, "cameras": finding.cameras.map(\.json),
            "repairs": finding.repairs?.map { repair in
                [
                    "part": repair.change.place.table, "name": repair.change.place.name,
                    "origin": origin(repair.change.place), "change": repair.change.words { _ in nil },
                    "states": repair.states, "worlds": repair.worlds, "whole": repair.isWhole,
                ] as JSONObject
            },
        ]
    }
}

extension PolicyWalk.TimedReport {
    fileprivate var json: JSONObject {
        [
            "clients": clients, "cameras": cameras, "worlds": worlds, "worldsInAll": worldsInAll, "states": states,
            "transitions": transitions, "stepSeconds": step?.roundSeconds, "cutOffBy": cutOffBy?.rawValue,
        ]
    }
}

extension PolicyWalk.Fairness {
    fileprivate var json: JSONObject {
        [
            "worlds": worlds, "worldsInAll": worldsInAll, "states": states, "transitions": transitions,
            "cutOffBy": cutOffBy?.rawValue,
        ]
    }
}

extension CameraStanding {
    fileprivate var json: JSONObject {
        [
            "camera": camera.name, "at": TimeText.write(at), "tenancy": tenancy.rawValue,
            "holder": holder.map(Self.json), "beneficiary": beneficiary.map(Self.json),
            "waiting": waiting.map(Self.json),
            "deadlines": deadlines.map { ["at": TimeText.write($0.at), "what": $0.what] as JSONObject },
        ]
    }

    private static func json(_ bidder: Bidder) -> JSONObject {
        [
            "session": bidder.session, "rank": bidder.rank, "rankRule": bidder.rankRule, "rule": bidder.rule,
            "behind": bidder.behind,
        ]
    }
}
