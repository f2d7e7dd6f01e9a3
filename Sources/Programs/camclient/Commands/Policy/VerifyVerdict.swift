import Arbiter
import ArbiterProtocol
import PolicyFile
import Workbench

/// What a walk of a policy's worlds came to, in words and for programs. It says no more than was walked: how much of how
/// much, in how many states each statement was put to the test, and what was the same all the time.
struct VerifyVerdict {
    let file: String
    /// The folder of drop-ins that were read over it.
    let dropIns: String?
    let walk: PolicyWalk
    let report: PolicyWalk.Report
    let took: Duration

    private var statements: [Statement] { walk.policy.statements }
    private var everything: Bool { walk.scope == .everything }

    /// What is wrong with the statements themselves, as sentences.
    var problems: [String] { walk.problems(report) }

    /// The scenario alone goes to standard output, so that it can be kept as a file.
    func show() {
        for problem in problems { Output.notice("\(file): \(problem)") }
        if let finding = report.finding {
            Output.notice("\(file): \(finding.message), after \(finding.length) steps; \(figures)")
            Output.line(finding.scenario.hasSuffix("\n") ? String(finding.scenario.dropLast()) : finding.scenario)
            return
        }
        // What is said of time is walked while the machine does nothing by itself.
        let timed = everything ? report.timed?.applied.count ?? 0 : 0
        let others = statements.count - timed
        let held =
            others == 0
            ? "the broker's promises hold" : "the broker's promises and \(others.counted("statement")) hold"
        if let cut = report.cutOffBy {
            Output.line(
                "\(file): NOT COMPLETE, cut off \(cut.sentence) to a depth of \(report.depth): \(held) as far as it "
                    + "went, in \(casts), \(size)")
            Output.line("  to walk all of it: \(advice)")
        } else if !isWhole {
            Output.line(
                "\(file): NOT WHOLE, no walk reads \(notWalked.joined(separator: ", ")), which the policy says: "
                    + "\(held) in what was walked, every state of \(casts), \(size)")
        } else {
            Output.line("\(file): \(held) in every state of \(casts), \(size)")
        }
        if timed > 0 {
            Output.line(
                "  \(timed.counted("statement")) about time: held in what follows, while the machine does nothing by itself"
            )
        }
        Output.line("  \(figures)")
        if let fair = report.fairness {
            Output.line(
                "  looked for loops in \(fair.states.counted("state")) and \(fair.transitions.counted("transition")) "
                    + "of \(fair.worlds.counted("world")), mirror images told apart and leases counted")
        }
        if let timed = report.timed { Output.line("  \(figures(timed))") }
        for (statement, applied) in zip(statements, report.applied) {
            let states = applied == 0 ? "no state" : applied.counted("state")
            Output.line("  applied in \(states): \(statement.name)")
        }
        for gap in larger { Output.line("  larger worlds may differ: \(gap)") }
        Output.line("  never varied: \(walk.neverVaried.joined(separator: ", "))")
    }

    /// Keys that the policy says and no walk reads.
    private var notWalked: [String] { walk.keysNotWalked.map(\.description) }

    /// Nothing that the policy says was left out.
    var isWhole: Bool { notWalked.isEmpty }

    /// Why a larger world may break what holds in these.
    private var larger: [String] { SizeArgument(walk.policy, clients: walk.clients, cameras: walk.cameras).sentences }

    /// What to do about worlds that are too many or too large.
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
        "up to \(walk.clients.counted("client")) × \(walk.cameras.counted("camera"))"
            + (everything ? ", whatever the machine does" : "")
    }

    private var figures: String {
        let worlds =
            report.worlds < report.worldsInAll
            ? "\(report.worlds.grouped) of \(report.worldsInAll.grouped) worlds" : report.worlds.counted("world")
        return "walked \(report.states.counted("state")) and \(report.transitions.counted("transition")) of "
            + "\(worlds) in \(took.shortText), \(SearchOptions.rate(report.transitions, took).grouped) transitions a second"
    }

    /// What was walked for the statements about time: less, since there every wait and hold is counted.
    private func figures(_ timed: PolicyWalk.TimedReport) -> String {
        let worlds =
            timed.worlds < timed.worldsInAll
            ? "\(timed.worlds.grouped) of \(timed.worldsInAll.grouped) worlds" : timed.worlds.counted("world")
        let step =
            timed.step.map { "time in steps of \($0.shortText)" }
            ?? "time from deadline to deadline; events between deadlines were not walked"
        let cut = timed.cutOffBy.map { "; cut off \($0.sentence)" } ?? ""
        return "for \(timed.applied.count.counted("statement")) about time: walked "
            + "\(timed.states.counted("state")) and \(timed.transitions.counted("transition")) of \(worlds), up to "
            + "\(timed.clients.counted("client")) × \(timed.cameras.counted("camera")), \(step)\(cut)"
    }

    private func json(_ timed: PolicyWalk.TimedReport) -> JSON {
        .object([
            "clients": .integer(Int64(timed.clients)), "cameras": .integer(Int64(timed.cameras)),
            "worlds": .integer(Int64(timed.worlds)), "worldsInAll": .integer(Int64(timed.worldsInAll)),
            "states": .integer(Int64(timed.states)), "transitions": .integer(Int64(timed.transitions)),
            "stepSeconds": timed.step.map { .number(Double($0.wholeNanoseconds / 1_000_000) / 1000) } ?? .null,
            "cutOffBy": .optional(timed.cutOffBy?.rawValue),
        ])
    }

    var json: JSON {
        .object([
            "file": .string(file), "clients": .integer(Int64(walk.clients)), "cameras": .integer(Int64(walk.cameras)),
            "casts": .integer(Int64(report.casts)), "castsInAll": .integer(Int64(report.castsInAll)),
            "worlds": .integer(Int64(report.worlds)), "worldsInAll": .integer(Int64(report.worldsInAll)),
            "everything": .bool(everything), "states": .integer(Int64(report.states)),
            "transitions": .integer(Int64(report.transitions)), "depth": .integer(Int64(report.depth)),
            "statements": .array(
                zip(statements, report.applied).map { statement, applied in
                    .object(["name": .string(statement.name), "applied": .integer(Int64(applied))])
                }),
            "problems": .strings(problems), "neverVaried": .strings(walk.neverVaried), "notWalked": .strings(notWalked),
            "largerMayDiffer": .strings(larger),
            "complete": .bool(report.isComplete), "fairness": report.fairness?.json ?? .null,
            "timed": report.timed.map(json) ?? .null, "cutOffBy": .optional(report.cutOffBy?.rawValue),
            "seconds": .number(Double(took.wholeNanoseconds / 1_000_000) / 1000),
            "transitionsPerSecond": .integer(Int64(SearchOptions.rate(report.transitions, took))),
            "broken": report.finding.map(json) ?? .null,
        ])
    }

    private func json(_ finding: PolicyWalk.Finding) -> JSON {
        let loop = finding.loop.map { loop in
            JSON.object(["stem": .integer(Int64(loop.stem)), "around": .integer(Int64(loop.around))])
        }
        let origins = PolicyWalk.origins(file, dropIns)
        let repairs = finding.repairs.map { repairs in JSON.array(repairs.map { $0.json(origins) }) }
        return .object([
            "message": .string(finding.message), "statement": .optional(finding.statement),
            "length": .integer(Int64(finding.length)), "scenario": .string(finding.scenario),
            "loop": loop ?? .null, "cameras": .array(finding.cameras.map(\.json)), "repairs": repairs ?? .null,
        ])
    }
}

extension PolicyWalk.Fairness {
    var json: JSON {
        .object([
            "worlds": .integer(Int64(worlds)), "worldsInAll": .integer(Int64(worldsInAll)),
            "states": .integer(Int64(states)),
            "transitions": .integer(Int64(transitions)), "cutOffBy": .optional(cutOffBy?.rawValue),
        ])
    }
}

extension CameraStanding {
    var json: JSON {
        .object([
            "camera": .string(camera.name), "at": .string(TimeText.write(at)), "tenancy": .string(tenancy.rawValue),
            "holder": holder?.json ?? .null, "beneficiary": beneficiary?.json ?? .null,
            "waiting": .array(waiting.map(\.json)),
            "deadlines": .array(
                deadlines.map { .object(["at": .string(TimeText.write($0.at)), "what": .string($0.what)]) }),
        ])
    }
}

extension CameraStanding.Bidder {
    fileprivate var json: JSON {
        .object([
            "session": .string(session), "rank": .string(rank), "rankRule": .string(rankRule),
            "rule": .optional(rule), "behind": .optional(behind),
        ])
    }
}

extension Repair {
    func json(_ origin: (PolicyPart) -> String?) -> JSON {
        return .object([
            "part": .string(change.place.table), "name": .string(change.place.name),
            "origin": .optional(origin(change.place)),
            "change": .string(change.words { _ in nil }), "states": .integer(Int64(states)),
            "worlds": .integer(Int64(worlds)), "whole": .bool(isWhole),
        ])
    }
}
