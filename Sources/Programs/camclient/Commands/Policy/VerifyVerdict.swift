import Arbiter
import ArbiterProtocol
import PolicyFile
import Workbench

/// What a walk of a policy's worlds came to, in words and for programs. It says no more than was walked.
struct VerifyVerdict {
    let file: String
    let dropIns: String?
    let walk: PolicyWalk
    let report: PolicyWalk.Report
    let took: Duration

    private var statements: [Statement] { walk.policy.statements }
    private var everything: Bool { walk.scope == .everything }

    var problems: [String] { walk.problems(report) }

    /// The scenario alone goes to standard output, so that it can be kept as a file.
    func show() {
        for problem in problems { Output.notice("\(file): \(problem)") }
        guard let finding = report.finding else { return Output.lines(lines) }
        Output.notice("\(file): \(finding.message), after \(finding.length) steps; \(figures)")
        Output.line(finding.scenario.withoutLastNewline)
    }

    private var lines: [String] {
        // What is said of time is walked while the machine does nothing by itself.
        let timed = everything ? report.timed?.applied.count ?? 0 : 0
        let others = statements.count - timed
        let held =
            others == 0
            ? "the broker's promises hold" : "the broker's promises and \(others.counted("statement")) hold"
        var lines: [String] = []
        if let cut = report.cutOffBy {
            lines = [
                "\(file): NOT COMPLETE, cut off \(cut.sentence) to a depth of \(report.depth): \(held) as far as it "
                    + "went, in \(casts), \(size)", "  to walk all of it: \(advice)",
            ]
        } else if !isWhole {
            lines = [
                "\(file): NOT WHOLE, no walk reads \(notWalked.joined(separator: ", ")), which the policy says: "
                    + "\(held) in what was walked, every state of \(casts), \(size)"
            ]
        } else {
            lines = ["\(file): \(held) in every state of \(casts), \(size)"]
        }
        if timed > 0 {
            lines.append(
                "  \(timed.counted("statement")) about time: held in what follows, while the machine does nothing by itself"
            )
        }
        lines.append("  \(figures)")
        if let fair = report.fairness {
            lines.append(
                "  looked for loops in \(fair.states.counted("state")) and \(fair.transitions.counted("transition")) "
                    + "of \(fair.worlds.counted("world")), mirror images told apart and leases counted")
        }
        if let timed = report.timed { lines.append("  \(figures(timed))") }
        lines += zip(statements, report.applied).map { statement, applied in
            "  applied in \(applied == 0 ? "no state" : applied.counted("state")): \(statement.name)"
        }
        lines += larger.map { "  larger worlds may differ: \($0)" }
        return lines + ["  never varied: \(walk.neverVaried.joined(separator: ", "))"]
    }

    private var notWalked: [String] { walk.keysNotWalked.map(\.description) }

    var isWhole: Bool { notWalked.isEmpty }

    private var larger: [String] { SizeArgument(walk.policy, clients: walk.clients, cameras: walk.cameras).sentences }

    private var advice: String {
        var ways = ["--max-time, --max-states and --max-memory allow more", "--resume FILE goes on later"]
        if walk.clients > 1 { ways.append("--clients \(walk.clients - 1) has smaller worlds") }
        if report.castsInAll > 1 { ways.append("--pairs has fewer casts") }
        // Smaller worlds do not help where it is the steps that are many.
        if let timed = report.timed, timed.cutOffBy != nil, let step = timed.step {
            ways.append("times of the policy that are multiples of more than \(step.shortText) make fewer steps")
        }
        return ways.joined(separator: ", ")
    }

    private var casts: String { Self.casts(report.casts, of: report.castsInAll) }

    static func casts(_ walked: Int, of all: Int) -> String {
        walked == all
            ? (all == 1 ? "the one cast" : "all \(all.grouped) casts") : "\(walked.grouped) of \(all.counted("cast"))"
    }

    private var size: String {
        Self.size(walk.clients, walk.cameras) + (everything ? ", whatever the machine does" : "")
    }

    private static func size(_ clients: Int, _ cameras: Int) -> String {
        "up to \(clients.counted("client")) × \(cameras.counted("camera"))"
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

    /// What was walked for the statements about time: less, since there every wait and hold is counted.
    private func figures(_ timed: PolicyWalk.TimedReport) -> String {
        let step =
            timed.step.map { "time in steps of \($0.shortText)" }
            ?? "time from deadline to deadline; events between deadlines were not walked"
        let cut = timed.cutOffBy.map { "; cut off \($0.sentence)" } ?? ""
        return "for \(timed.applied.count.counted("statement")) about time: "
            + Self.walked(timed.states, timed.transitions, Self.worlds(timed.worlds, of: timed.worldsInAll))
            + ", \(Self.size(timed.clients, timed.cameras)), \(step)\(cut)"
    }

    var json: JSONObject {
        [
            "file": file, "clients": walk.clients, "cameras": walk.cameras, "casts": report.casts,
            "castsInAll": report.castsInAll, "worlds": report.worlds, "worldsInAll": report.worldsInAll,
            "everything": everything, "states": report.states, "transitions": report.transitions,
            "depth": report.depth,
            "statements": zip(statements, report.applied).map { statement, applied in
                ["name": statement.name, "applied": applied] as JSONObject
            }, "problems": problems, "neverVaried": walk.neverVaried, "notWalked": notWalked,
            "largerMayDiffer": larger, "complete": report.isComplete, "fairness": report.fairness?.json,
            "timed": report.timed?.json, "cutOffBy": report.cutOffBy?.rawValue, "seconds": took.roundSeconds,
            "transitionsPerSecond": SearchOptions.rate(report.transitions, took), "broken": report.finding.map(json),
        ]
    }

    private func json(_ finding: PolicyWalk.Finding) -> JSONObject {
        let origins = PolicyWalk.origins(file, dropIns)
        let loop: JSONObject? = finding.loop.map { ["stem": $0.stem, "around": $0.around] }
        return [
            "message": finding.message, "statement": finding.statement, "length": finding.length,
            "scenario": finding.scenario, "loop": loop, "cameras": finding.cameras.map(\.json),
            "repairs": finding.repairs?.map { $0.json(origins) },
        ]
    }
}

extension PolicyWalk.TimedReport {
    var json: JSONObject {
        [
            "clients": clients, "cameras": cameras, "worlds": worlds, "worldsInAll": worldsInAll, "states": states,
            "transitions": transitions, "stepSeconds": step?.roundSeconds, "cutOffBy": cutOffBy?.rawValue,
        ]
    }
}

extension PolicyWalk.Fairness {
    var json: JSONObject {
        [
            "worlds": worlds, "worldsInAll": worldsInAll, "states": states, "transitions": transitions,
            "cutOffBy": cutOffBy?.rawValue,
        ]
    }
}

extension CameraStanding {
    var json: JSONObject {
        [
            "camera": camera.name, "at": TimeText.write(at), "tenancy": tenancy.rawValue, "holder": holder?.json,
            "beneficiary": beneficiary?.json, "waiting": waiting.map(\.json),
            "deadlines": deadlines.map { ["at": TimeText.write($0.at), "what": $0.what] as JSONObject },
        ]
    }
}

extension CameraStanding.Bidder {
    var json: JSONObject {
        ["session": session, "rank": rank, "rankRule": rankRule, "rule": rule, "behind": behind]
    }
}

extension Repair {
    fileprivate func json(_ origin: (PolicyPart) -> String?) -> JSONObject {
        [
            "part": change.place.table, "name": change.place.name, "origin": origin(change.place),
            "change": change.words { _ in nil }, "states": states, "worlds": worlds, "whole": isWhole,
        ]
    }
}
