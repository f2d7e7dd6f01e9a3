import Arbiter
import ArbiterProtocol
import Glibc
import PolicyFile
import ReferenceArbiter
import Scenario
import Testing

@Suite("The naive arbiter")
struct ReferenceTests {
    struct House: Sendable, CustomTestStringConvertible {
        var name: String
        var policy: any HousePolicy
        /// What its worlds have to come upon, besides what all have.
        var meets: [String]
        var testDescription: String { name }
    }

    static let houses = [
        House(
            name: "ios9", policy: IOS9(),
            meets: [
                "in-background", "multiple-foreground-apps", "audio-in-use", "login-session-inactive", "AccessChanged",
            ]),
        House(
            name: "desktop", policy: DesktopHouse(),
            meets: ["system-pressure", "login-session-inactive", "AccessChanged"]),
        House(
            name: "kiosk", policy: Kiosk(),
            meets: [
                "system-pressure", "WillBeInterrupted", "InterruptionWithdrawn", "lease-expired", "cut at the deadline",
                "cut before the deadline",
            ]),
    ]
    static let allMeet = [
        "device-in-use", "disconnected", "privacy", "system-sleep", "sensitive-content", "DidStartRunning",
        "DidStopRunning", "InterruptionChanged", "InterruptionEnded", "RecordingStarted", "RecordingFinished",
    ]

    /// Worlds for each policy, and events in each: ten thousand events in a few seconds.
    /// `CAMARB_WORLDS=5000` looks for longer.
    static let worlds: UInt64 = getenv("CAMARB_WORLDS").flatMap { UInt64(String(cString: $0)) } ?? 40
    static let events = 100

    @Test("The real arbiter agrees with it after every event of random worlds", arguments: houses)
    func agree(house: House) throws {
        let policy = try PolicyFile.load(path: path("policies/\(house.name).toml"))
        var met: Set<String> = []
        for seed in 1...Self.worlds {
            let (run, failure) = play(seed, policy, house, &met)
            guard let failure else { continue }
            let shortest = shorten(run, failure, policy, house)
            var both = SideBySide(policy: policy, house: house.policy, keepsTrace: true)
            let difference = take(shortest, by: &both) ?? "it does not show again"
            let header = ScenarioWriter.header(
                title: "The naive arbiter disagrees: seed \(seed).", policy: house.name,
                cameras: [])
            Issue.record(
                """
                \(house.name).toml, seed \(seed): \(failure)
                The shortest way there that was found:

                \((header + both.trace).joined(separator: "\n"))

                \(difference)
                """)
            return
        }
        for rule in Self.allMeet + house.meets { #expect(met.contains(rule), "no world came upon \(rule)") }
    }

    struct Entry {
        var at: Moment
        var event: Event
    }

    /// One random world, up to the first disagreement.
    private func play(
        _ seed: UInt64, _ policy: Policy, _ house: House, _ met: inout Set<String>
    ) -> ([Entry], String?) {
        var random = RandomWorld(seed: seed, isKiosk: house.name == "kiosk")
        var both = SideBySide(policy: policy, house: house.policy)
        var run: [Entry] = []
        var next = random.beginning
        while run.count < Self.events {
            let at = both.now + (run.isEmpty ? .zero : random.pause())
            for event in next {
                run.append(Entry(at: max(at, both.now), event: event))
                if let difference = both.take(event, at: max(at, both.now)) { return (run, difference) }
            }
            next = random.next(both)
        }
        met.formUnion(both.met)
        return (run, nil)
    }

    /// The first disagreement, or nil.
    private func take(_ run: [Entry], by both: inout SideBySide) -> String? {
        for entry in run {
            if let difference = both.take(entry.event, at: entry.at) { return difference }
        }
        return nil
    }

    /// Leaves out whatever the disagreement does not need, from the end to the beginning, until nothing can go.
    private func shorten(_ run: [Entry], _ failure: String, _ policy: Policy, _ house: House) -> [Entry] {
        var run = run
        var shrank = true
        while shrank {
            shrank = false
            for index in run.indices.reversed() where isWhole(run, without: index) {
                var shorter = run
                shorter.remove(at: index)
                var both = SideBySide(policy: policy, house: house.policy)
                // A request of a client that was left out is another disagreement, and no shorter form of this one.
                guard let difference = take(shorter, by: &both), isRefusal(difference) == isRefusal(failure) else {
                    continue
                }
                (run, shrank) = (shorter, true)
            }
        }
        return run
    }

    private func isRefusal(_ difference: String) -> Bool { difference.hasPrefix("the core") }

    /// Nothing refers to what the entry introduced.
    private func isWhole(_ run: [Entry], without index: Int) -> Bool {
        switch run[index].event {
        case .connected(let client, _, _):
            return !run.contains {
                if case .created(_, let owner, _, _, _) = $0.event { return owner == client }
                return false
            }
        case .cameraAppeared(let camera, _, _):
            return !run.contains {
                if case .created(_, _, let wanted, _, _) = $0.event { return wanted == camera }
                return false
            }
        default: return true
        }
    }

    private func path(_ name: String, here: String = #filePath) -> String {
        here.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/") + "/" + name
    }
}
