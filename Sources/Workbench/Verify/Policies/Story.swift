import Arbiter
import ArbiterProtocol
import Scenario

/// A path through a small world as a scenario: without members that play no part in it, and with recorders that answer
/// by themselves wherever that tells the same.
struct Story {
    let world: SmallWorld
    let policyLine: String
    let policies: String

    func finding(
        _ found: (state: Int, message: String, statement: String?), _ ways: Ways, _ policy: Policy, _ scope: WalkScope
    ) -> PolicyWalk.Finding {
        let path = ways.path(to: found.state)
        let events = world.lived(path, policy, answers: scope.lateRecorders).events
        let title = "Found by `camclient policy verify`: \(found.message)."
        let told = telling(events, title, policy) { isBroken($0, found.statement) }
        return PolicyWalk.Finding(
            message: found.message, statement: found.statement, length: path.count, scenario: told.text,
            cameras: told.cameras)
    }

    private func isBroken(_ stage: Stage, _ statement: String?) -> Bool {
        guard let statement else { return !stage.violations.isEmpty }
        return stage.arbiter.brokenStatement()?.statement.name == statement
    }

    /// The shortest text that still shows it: recorders answer by themselves, and only members with a part in it are
    /// left. Behind it, as comments, how all cameras stand in the end.
    /// - Parameters:
    ///   - remarks: comments, each before the event of this place.
    ///   - shows: whether a stage at the end of the scenario shows what it is about.
    func telling(
        _ events: [(event: Event, moment: Moment)], _ title: String, _ policy: Policy, remarks: [Int: String] = [:],
        _ shows: (Stage) -> Bool
    ) -> (text: String, cameras: [CameraStanding]) {
        for isManual in [false, true] {
            for isWhole in [false, true] {
                let text = text(events, title, policy, remarks, isManual: isManual, isWhole: isWhole)
                guard let scenario = try? Scenario.parse(text, file: "story", policies: policies) else { continue }
                var stage = Stage(Arbiter(policy: scenario.world.policy))
                let outcome = scenario.run(on: &stage)
                guard shows(stage) else { continue }
                let cameras = stage.arbiter.standings(scenario.names, at: stage.now)
                return (([outcome.rewritten] + CameraStanding.comments(cameras)).joined(separator: "\n"), cameras)
            }
        }
        return (text(events, title, policy, remarks, isManual: true, isWhole: true), [])
    }

    func text(
        _ events: [(event: Event, moment: Moment)], _ title: String, _ policy: Policy, _ remarks: [Int: String],
        isManual: Bool, isWhole: Bool
    ) -> String {
        let lines = lines(events, policy, remarks, isManual: isManual, isWhole: isWhole)
        return (["# \(title)", "", "policy \(policyLine)"] + lines).joined(separator: "\n") + "\n"
    }

    /// A path lived under each of several policies: the scenario as far as they look alike, what clients are told on
    /// the way included, and then how each ends. Nil where that shows no difference.
    func contrast(
        _ events: [(event: Event, moment: Moment)], _ policies: [Policy]
    ) -> (common: [String], ends: [[String]])? {
        let head = ["policy built-in"]
        let lines = head + lines(events, policies[0], isManual: false, isWhole: false)
        guard let scenario = try? Scenario.parse(lines.joined(separator: "\n"), file: "story", policies: ".") else {
            return nil
        }
        let told = policies.map { policy in
            var stage = Stage(Arbiter(policy: policy))
            return scenario.run(on: &stage).rewritten.split(separator: "\n", omittingEmptySubsequences: false)
                .dropFirst(head.count).map(String.init)
        }
        let shared = zip(told[0], told[1]).prefix { $0 == $1 }.count
        let ends = told.map { $0.dropFirst(shared).map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty } }
        return ends[0] == ends[1] ? nil : (Array(told[0].prefix(shared)), ends)
    }

    func lines(
        _ events: [(event: Event, moment: Moment)], _ policy: Policy, _ remarks: [Int: String] = [:], isManual: Bool,
        isWhole: Bool
    ) -> [String] {
        var lines = world.cameraLines + [""]
        let inputs = inputs(events, policy, isManual: isManual)
        var time = ""
        func add(_ line: String, at moment: String) {
            if moment == time {
                lines.append("     \(line)")
            } else {
                time = moment
                lines.append(time + String(repeating: " ", count: max(1, 5 - time.count)) + line)
            }
        }
        if isManual { add("recorder all manual", at: "0s") }
        var used = Set(inputs.flatMap { words($0.line) })
        // A client has a part through its second session, too.
        for line in world.setupLines.map(words) where line.count > 3 && line[2] == "of" && used.contains(line[1]) {
            used.insert(line[3])
        }
        for line in world.setupLines {
            // A client that no later line speaks of has no part in it.
            let words = words(line)
            if !isWhole, ["connect", "session"].contains(words[0]), !used.contains(words[1]) { continue }
            add(line, at: "0s")
        }
        var told: Set<Int> = []
        for input in inputs {
            for (place, remark) in remarks.sorted(by: { $0.key < $1.key })
            where place <= input.place && told.insert(place).inserted { lines.append("# \(remark)") }
            if input.line.isEmpty {
                time = input.time
                lines.append(time)
            } else {
                add(input.line, at: input.time)
            }
        }
        for (place, remark) in remarks.sorted(by: { $0.key < $1.key }) where !told.contains(place) {
            lines.append("# \(remark)")
        }
        return lines
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// The inputs as lines, each with its event's place; an empty one: only time passes.
    func inputs(
        _ events: [(event: Event, moment: Moment)], _ policy: Policy, isManual: Bool
    ) -> [(time: String, line: String, place: Int)] {
        let writer = ScenarioWriter(names: world.names)
        var found: [(time: String, line: String, place: Int)] = []
        for (place, (event, moment)) in events.enumerated() {
            let time = TimeText.write(moment)
            if case .cameraAppeared(let camera, _, _) = event {
                found.append((time, "plug \(camera.name)", place))
            } else if case .declared = event, let line = found.last?.line, line.hasPrefix("connect") {
                // The line that connects says what the client declares, too.
                found[found.count - 1].line = world.setupLines.first { $0.hasPrefix(line) } ?? line
            } else if event == .timePassed {
                found.append((time, "", place))
            } else if case .policyLoaded(let loaded) = event, loaded == policy {
                found.append((time, "policy-reload \(policyLine)", place))
            } else if isManual || !event.isRecorderAnswer {
                if let line = writer.text(of: event) { found.append((time, line, place)) }
            }
        }
        return found
    }
}
