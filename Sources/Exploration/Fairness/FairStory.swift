import Arbiter
import ArbiterProtocol
import Scenario

/// A course of events in which somebody never runs, as a scenario: the way to where the loop begins, and the loop twice, so
/// that a reader sees the same again.
struct FairStory {
    private let story: Story
    private let policy: Policy
    private let answers: Bool

    init(_ story: Story, _ policy: Policy, _ scope: WalkScope) {
        self.story = story
        self.policy = policy
        answers = scope.lateRecorders
    }

    func finding(_ found: FairSearch.Found) -> PolicyWalk.Finding {
        let told = found.loop.isEmpty ? standstill(found) : loop(found)
        return PolicyWalk.Finding(
            message: told.message, statement: found.statement.name, length: found.stem.count + found.loop.count,
            scenario: told.text, cameras: told.cameras, loop: (found.stem.count, found.loop.count),
            starving: name(found))
    }

    private typealias Told = (message: String, text: String, cameras: [CameraStanding])

    /// Long enough to see that nothing comes, whatever a policy's times are: no lease is longer than a day.
    private static let silence = Duration.seconds(24 * 3600)

    /// Nothing has to happen any more: two days go by.
    private func standstill(_ found: FairSearch.Found) -> Told {
        var events = story.world.events(along: found.stem, policy, answers: answers)
        let end = story.world.state(along: found.stem, policy, answers: answers)
        let waits = "\(name(found)) \(predicament(of: found.session, in: end.arbiter)) for ever"
        let remarks = [events.count: "From here on nothing has to happen any more: \(waits)."]
        for day in 1...2 { events.append((.timePassed, end.now + Self.silence * day)) }
        return tell(events, "nothing has to happen any more, and \(waits)", remarks, found)
    }

    private func loop(_ found: FairSearch.Found) -> Told {
        let (world, once) = (story.world, found.stem + found.loop)
        let events = world.events(along: once + found.loop, policy, answers: answers)
        let entry = world.state(along: found.stem, policy, answers: answers)
        let back = world.state(along: once, policy, answers: answers)
        let begins = world.events(along: found.stem, policy, answers: answers).count
        let around =
            "\(found.loop.count) step\(found.loop.count == 1 ? "" : "s") and "
            + TimeText.write(back.now - entry.now)
        let remarks = [
            begins: "The loop begins here: \(around), in which \(name(found)) asks all along and never runs.",
            world.events(along: once, policy, answers: answers).count: "The same state again; around once more.",
            events.count: "And the same state again: this can go on for ever.",
        ]
        let message = "\(name(found)) goes on asking and never runs, in a loop of \(around)"
        return tell(events, message, remarks, found)
    }

    private func tell(
        _ events: [(event: Event, moment: Moment)], _ what: String, _ remarks: [Int: String], _ found: FairSearch.Found
    ) -> Told {
        let message = "the statement “\(found.statement.name)” is broken: \(what)"
        let title = "Found by `camclient policy verify`: \(message)."
        let told = story.telling(events, title, policy, remarks: remarks) { stage in
            Starving(found.statement, in: stage.arbiter).map { $0.bits(in: stage.arbiter) != 0 } ?? false
        }
        return (message, told.text, told.cameras)
    }

    private func name(_ found: FairSearch.Found) -> String { story.world.names.name(of: found.session) }

    private func predicament(of session: SessionID, in arbiter: Arbiter) -> String {
        guard let status = arbiter.status(of: session) else { return "asks" }
        if let other = status.waitsFor { return "waits behind \(story.world.names.name(of: other))" }
        return "stays interrupted (\(status.causes.ordered.map(\.shortName).joined(separator: " and ")))"
    }
}

extension SmallWorld {
    /// The state at the end of a path.
    func state(along path: [Int], _ policy: Policy, answers: Bool) -> ExploredState {
        var state = beginning(policy)
        for choice in path {
            _ = forEachChoice(in: state, answers: answers) { candidate, events, now in
                guard candidate == choice else { return true }
                state.now = now
                for event in events { _ = state.take(event) }
                if !answers { _ = state.answerAll() }
                return false
            }
        }
        return state
    }
}
