import Arbiter
import ArbiterProtocol
import Scenario

/// Writes a path through a small world as a scenario: without members that play no part in it, and with recorders that answer by
/// themselves wherever that comes to the same.
struct PathScenario {
    let world: SmallWorld
    let policyLine: String
    let policies: String

    typealias Events = [(event: Event, moment: Moment)]

    func finding(
        _ found: (state: Int, message: String, statement: String?), _ tree: SearchTree, _ policy: Policy,
        _ scope: WalkScope
    ) -> PolicyWalk.Finding {
        let path = tree.path(to: found.state)
        let events = world.replay(path, policy, answers: scope.lateRecorders).events
        return finding(found.message, found.statement, length: path.count, events, policy) { stage in
            guard let statement = found.statement else { return !stage.violations.isEmpty }
            return stage.arbiter.brokenStatement()?.statement.name == statement
        }
    }

    /// - Parameters:
    ///   - remarks: comments, each before the event of this place.
    ///   - shows: whether a stage at the end of the scenario shows the finding.
    func finding(
        _ message: String, _ statement: String?, length: Int, _ events: Events, _ policy: Policy,
        remarks: [Int: String] = [:], _ shows: (Stage) -> Bool
    ) -> PolicyWalk.Finding {
        let title = "Found by `camclient policy verify`: \(message)."
        let found = simplest(events, title, policy, remarks) { text -> (text: String, cameras: [CameraStanding])? in
            guard let scenario = try? Scenario.parse(text, file: "path", policies: policies) else { return nil }
            var stage = Stage(Arbiter(policy: scenario.world.policy))
            let outcome = scenario.run(on: &stage)
            guard shows(stage) else { return nil }
            let cameras = stage.arbiter.standings(scenario.names, at: stage.now)
            return (([outcome.rewritten] + CameraStanding.comments(cameras)).joined(separator: "\n"), cameras)
        }
        return PolicyWalk.Finding(
            message: message, statement: statement, length: length,
            scenario: found?.text ?? text(events, title, policy, remarks, isManual: true, isWhole: true),
            cameras: found?.cameras ?? [])
    }

    /// The result of the shortest text that has one.
    func simplest<Result>(
        _ events: Events, _ title: String, _ policy: Policy, _ remarks: [Int: String] = [:],
        _ result: (String) -> Result?
    ) -> Result? {
        for isManual in [false, true] {
            for isWhole in [false, true] {
                let text = text(events, title, policy, remarks, isManual: isManual, isWhole: isWhole)
                if let result = result(text) { return result }
            }
        }
        return nil
    }

    private func text(
        _ events: Events, _ title: String, _ policy: Policy, _ remarks: [Int: String], isManual: Bool, isWhole: Bool
    ) -> String {
        let lines = lines(events, policy, remarks, isManual: isManual, isWhole: isWhole)
        return (["# \(title)", "", "policy \(policyLine)"] + lines).joined(separator: "\n") + "\n"
    }

    /// A path under each of two policies: the scenario with its notices as far as they agree, and how each ends.
    /// - Returns: `nil` where that shows no difference.
    func contrast(_ events: Events, _ policies: [Policy]) -> (common: [String], ends: [[String]])? {
        let head = ["policy built-in"]
        let lines = head + lines(events, policies[0], isManual: false, isWhole: false)
        guard let scenario = try? Scenario.parse(lines.joined(separator: "\n"), file: "path", policies: ".") else {
            return nil
        }
        let outcomes = policies.map { policy in
            var stage = Stage(Arbiter(policy: policy))
            return scenario.run(on: &stage).rewritten.split(separator: "\n", omittingEmptySubsequences: false)
                .dropFirst(head.count).map(String.init)
        }
        let shared = zip(outcomes[0], outcomes[1]).prefix { $0 == $1 }.count
        let ends = outcomes.map { $0.dropFirst(shared).map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty } }
        return ends[0] == ends[1] ? nil : (Array(outcomes[0].prefix(shared)), ends)
    }

    /// A path as one scenario for each policy, with the policy and its notices in it.
    /// - Returns: `nil` where they agree.
    func scenarios(_ events: Events, _ policies: [Policy], titles: [String]) -> [String]? {
        for isWhole in [false, true] {
            let body = lines(events, policies[0], isManual: false, isWhole: isWhole)
            let texts = zip(policies, titles).compactMap { policy, title -> (head: Int, text: String)? in
                let head = ["# \(title)", "", Scenario.policyLine("policy", policy)]
                let text = (head + body).joined(separator: "\n") + "\n"
                guard let scenario = try? Scenario.parse(text, file: "witness", policies: ".") else { return nil }
                var stage = Stage(Arbiter(policy: scenario.world.policy))
                return (head.joined(separator: "\n").count, scenario.run(on: &stage).rewritten)
            }
            guard texts.count == policies.count else { return nil }
            if texts[0].text.dropFirst(texts[0].head) != texts[1].text.dropFirst(texts[1].head) {
                return texts.map(\.text)
            }
        }
        return nil
    }

    func lines(
        _ events: Events, _ policy: Policy, _ remarks: [Int: String] = [:], isManual: Bool, isWhole: Bool
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
        // A client also plays a part through its second session.
        for line in world.setupLines.map(words) where line.count > 3 && line[2] == "of" && used.contains(line[1]) {
            used.insert(line[3])
        }
        for line in world.setupLines {
            // A client that no later line names plays no part.
            let words = words(line)
            if !isWhole, ["connect", "session"].contains(words[0]), !used.contains(words[1]) { continue }
            add(line, at: "0s")
        }
        var remarks = remarks.sorted { $0.key < $1.key }[...]
        for input in inputs {
            while let remark = remarks.first, remark.key <= input.place {
                lines.append("# \(remark.value)")
                remarks.removeFirst()
            }
            if input.line.isEmpty {
                time = input.time
                lines.append(time)
            } else {
                add(input.line, at: input.time)
            }
        }
        return lines + remarks.map { "# \($0.value)" }
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// The inputs as lines, each with its event's place; the line is empty where only time passes.
    private func inputs(
        _ events: Events, _ policy: Policy, isManual: Bool
    ) -> [(time: String, line: String, place: Int)] {
        let writer = ScenarioWriter(names: world.names)
        var found: [(time: String, line: String, place: Int)] = []
        for (place, (event, moment)) in events.enumerated() {
            let time = TimeText.write(moment)
            if case .cameraAppeared(let camera, _, _) = event {
                found.append((time, "plug \(camera.name)", place))
            } else if case .declared = event, let line = found.last?.line, line.hasPrefix("connect") {
                // The line that connects has the client's declaration, too.
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
