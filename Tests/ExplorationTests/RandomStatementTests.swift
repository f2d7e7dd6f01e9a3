import Arbiter
import ArbiterProtocol
import Explain
import Foundation
import PolicyFile
import Scenario
import Testing
import Workbench

/// Statements by chance over policies by chance, each of them false by construction: a run of the policy with events at any
/// millisecond breaks it, judged by what the broker's status said, and not by the walk. A walk may be cut off, but it never says
/// of one of these that it holds.
@Suite("Random statements")
struct RandomStatementTests {
    private static let seed: UInt64 = 14

    /// Some seconds of an optimized build; `CAMARB_STATEMENTS` is another number.
    private static let count =
        ProcessInfo.processInfo.environment["CAMARB_STATEMENTS"].flatMap(Int.init) ?? (isDebug ? 8 : 50)
    private static let statesMax = isDebug ? 20_000 : 150_000

    @Test("No false statement holds, and what is found broken is a scenario that runs")
    func statements() throws {
        var random = SeededRandom(seed: Self.seed)
        var said = (broken: 0, cutOff: 0)
        for number in 0..<Self.count {
            let policy = RandomPolicy(&random)
            let run = try RandomRun(policy, &random)
            guard let statement = run.falseStatement(&random) else { continue }
            let text = policy.text + "\n" + statement
            let report = try verify(text, statesMax: Self.statesMax)
            if let finding = report.finding {
                said.broken += 1
                try finding.runs()
            } else {
                #expect(report.cutOffBy != nil, "number \(number) is false, and holds:\n\(text)\n\(run.log)")
                said.cutOff += 1
            }
        }
        print("random statements: \(said.broken) broken, \(said.cutOff) cut off")
        #expect(said.broken >= Self.count / 2 && said.cutOff <= Self.count / 4)
    }
}

/// Two apps by name, with times by chance, in whole seconds.
private struct RandomPolicy {
    let text: String

    init(_ random: inout SeededRandom) {
        func times(_ random: inout SeededRandom) -> String {
            var lines: [String] = []
            if random.chance(40) { lines.append("grace = \"\(random.pick([2, 5, 10]))s\"") }
            if random.chance(30) { lines.append("min-hold = \"\(random.pick([3, 10]))s\"") }
            if random.chance(30) { lines.append("lease = \"\(random.pick([5, 20]))s\"") }
            if random.chance(15) { lines.append("immediate = true") }
            return lines.joined(separator: "\n")
        }
        let ranks = random.chance(30) ? ["one", "one"] : ["one", "two"]
        text = """
            name = "random"
            ranks = ["one", "two"]
            [[rank]]
            name = "a"
            app = "a.service"
            rank = "\(ranks[0])"
            \(times(&random))
            [[rank]]
            name = "b"
            app = "b.service"
            rank = "\(ranks[1])"
            \(times(&random))
            [contention]
            tie = "\(random.pick(["holder", "newcomer"]))"
            loser = "\(random.chance(20) ? "evict" : "interrupt")"
            cool-down = "\(random.pick([0, 0, 5, 20]))s"
            """
    }
}

/// A run of two apps on one camera, with events at any millisecond, and what the broker's status was all along. No walk
/// has a part in it.
private struct RandomRun {
    /// The state from a moment on.
    private struct Look {
        var moment: Moment
        var holder: String?
        var next: String?
        var apps: [String: App] = [:]

        struct App {
            var asks: Bool
            var runs: Bool
            var isInterrupted: Bool
            var waitsFor: String?
        }
    }

    private static let apps = ["a.service", "b.service"]
    private var looks: [Look] = []
    /// Losses of the camera to the other app or to a lease, and how long before the app was told.
    private var losses: [(app: String, told: Duration?)] = []
    private var inputs: [String] = []
    private var stage: Stage
    private var sessions: [String: SessionID] = [:]
    private var told: [String: Moment] = [:]

    /// The events, for a message.
    var log: String { inputs.joined(separator: "\n") }

    init(_ policy: RandomPolicy, _ random: inout SeededRandom) throws {
        let setup = """
            policy \"\"\"
            \(policy.text)
            \"\"\"
            camera desk external
            0s   connect a app=a.service
                 session a camera=desk
                 connect b app=b.service
                 session b camera=desk
            """
        let scenario = try Scenario.parse(setup, file: "run", policies: ".")
        stage = Stage(Arbiter(policy: scenario.world.policy))
        _ = scenario.run(on: &stage)
        for session in stage.arbiter.status().sessions { sessions[session.app.name] = session.id }
        look(after: nil)
        // Long enough that each of the policy's times is met a few times.
        for _ in 0..<40 { act(&random) }
        advance(by: .seconds(30))
    }

    private mutating func act(_ random: inout SeededRandom) {
        advance(by: .milliseconds(Int64(random.pick([0, random.below(3000), random.below(12_000)]))))
        let app = random.pick(Self.apps)
        guard let session = sessions[app], let asks = looks.last?.apps[app]?.asks else { return }
        if !asks {
            perform(.event(.startRunning(session)), "start \(app)", of: nil)
        } else if random.chance(10) {
            perform(.ready(session, nil), "ready \(app)", of: app)
        } else if random.chance(40) {
            perform(.event(.stopRunning(session)), "stop \(app)", of: app)
        }
    }

    private mutating func perform(_ action: Action, _ words: String, of app: String?) {
        inputs.append("\(TimeText.write(stage.now)) \(words)")
        stage.perform(action)
        look(after: app)
    }

    private mutating func advance(by time: Duration) {
        let end = stage.now + time
        while let next = stage.nextMoment, next <= end {
            _ = stage.advance(to: next)
            look(after: nil)
        }
        _ = stage.advance(to: end)
        look(after: nil)
    }

    /// - Parameter own: the app that asked for what has just happened.
    private mutating func look(after own: String?) {
        let status = stage.arbiter.status()
        func app(_ session: SessionID?) -> String? { sessions.first { $0.value == session }?.key }
        var look = Look(
            moment: stage.now, holder: status.cameras.first?.holderApp?.name, next: app(status.cameras.first?.next))
        for session in status.sessions {
            look.apps[session.app.name] = Look.App(
                asks: session.state != .stopped, runs: session.state == .running,
                isInterrupted: session.state == .interrupted, waitsFor: session.waitsFor?.name)
        }
        for step in stage.takeSteps() {
            for case .notify(_, let session, _, .willBeInterrupted) in step.effects {
                if let app = app(session) { told[app] = step.moment }
            }
        }
        if let holder = looks.last?.holder, holder != look.holder {
            if holder != own { losses.append((holder, told[holder].map { stage.now - $0 })) }
            told[holder] = nil
        }
        looks.append(look)
    }

    // MARK: Statements

    /// A sentence that this run breaks, where there is one.
    func falseStatement(_ random: inout SeededRandom) -> String? {
        var found: Set<String> = []
        func never(_ parts: String) { found.insert("[[never]]\nname = \"random\"\n\(parts)\n") }
        func always(_ app: String, _ demand: String) {
            found.insert("[[always]]\nname = \"random\"\nwhen = { app = \"\(app)\" }\n\(demand)\n")
        }
        for look in looks {
            for (app, one) in look.apps {
                guard let behind = one.waitsFor, behind != app else { continue }
                let (itself, other) = ("{ app = \"\(app)\" }", "{ app = \"\(behind)\" }")
                if one.isInterrupted { never("interrupted = \(itself)\nby = \(other)") }
                guard look.next != app, look.holder == behind else { continue }
                never("waiting = \(itself)\nunless = { by = \(itself) }")
                never("holder = \(other)\nwaiting = \(itself)\nby = \(other)")
            }
        }
        for app in Self.apps {
            if let time = Self.below(longestWait(app), &random) {
                always(app, "is = \"running\"\nwithin = \"\(time)s\"")
            }
            let window = random.pick([10, 20, 40])
            if let time = Self.below(most(app, in: .seconds(window)), &random) {
                always(app, "at-most = \"\(time)s\"\nin = \"\(window)s\"")
            }
        }
        for loss in losses {
            always(loss.app, "warned = \"\((loss.told ?? .zero).components.seconds + 1)s\"")
        }
        return found.isEmpty ? nil : random.pick(found.sorted())
    }

    /// Fewer whole seconds, where there are any.
    private static func below(_ time: Duration, _ random: inout SeededRandom) -> Int? {
        let most = Int((time - .nanoseconds(1)).components.seconds)
        return most > 0 ? 1 + random.below(most) : nil
    }

    private func longestWait(_ app: String) -> Duration {
        var longest = Duration.zero
        var since: Moment?
        for look in looks {
            if let since { longest = max(longest, look.moment - since) }
            let waits = look.apps[app].map { $0.asks && !$0.runs } ?? false
            since = waits ? since ?? look.moment : nil
        }
        return longest
    }

    /// The longest that an app had the camera within any time so long.
    private func most(_ app: String, in window: Duration) -> Duration {
        var longest = Duration.zero
        for start in looks {
            var held = Duration.zero
            for (one, next) in zip(looks, looks.dropFirst()) where one.holder == app {
                let from = max(one.moment, start.moment)
                let to = min(next.moment, start.moment + window)
                if to > from { held += to - from }
            }
            longest = max(longest, held)
        }
        return longest
    }
}
