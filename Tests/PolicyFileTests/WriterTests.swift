import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

/// Beside random policies, each of which has to read back equal, and which say every key (`FuzzTests`).
@Suite("Writing policies")
struct WriterTests {
    private static let policy = Policy(
        name: "n", summary: "s", rights: Rights(users: [Rights.Account(number: 1000)], services: ["v.service"]),
        causeRules: [CauseRule(name: "c", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground)],
        ranks: ["a", "b"], rankRules: [RankRule(name: "r", rank: 0)],
        cameras: [CameraRule(camera: CameraID("k"), conflicts: [CameraID("f")], cost: 60)],
        statements: [Statement(name: "t", .never([Statement.Player(.holder)]))])

    private func readsBack(_ policy: Policy, _ place: SourceLocation = #_sourceLocation) {
        let text = PolicyWriter.text(policy)
        do {
            let again = try PolicyFile.parse(text, file: "written.toml")
            #expect(again == policy, "\(text.prefix(4000))", sourceLocation: place)
        } catch {
            Issue.record("\(error)\nin\n\(text.prefix(4000))", sourceLocation: place)
        }
    }

    @Test(
        "A name reads back, whatever is in it",
        arguments: [
            "\"", "\\", "'", "#", " ", "=", "[a]", "ä€😀", "\\u0041", "\"\"\"", String(repeating: "\"", count: 90),
        ])
    func oddNames(_ odd: String) {
        var policy = Self.policy
        (policy.name, policy.summary, policy.ranks) = ("n" + odd, "s" + odd, ["a" + odd, "b" + odd])
        policy.rights.users = [Rights.Account(name: "u" + odd, number: nil)]
        policy.rights.services = ["v" + odd]
        policy.causeRules[0].name = "c" + odd
        policy.rankRules[0].name = "r" + odd
        policy.rankRules[0].when = [.app("a" + odd), .claimedApp("l" + odd), .camera(CameraID("m" + odd))]
        policy.cameras[0] = CameraRule(camera: CameraID("k" + odd), conflicts: [CameraID("f" + odd)], cost: 60)
        policy.statements[0].name = "t" + odd
        readsBack(policy)
    }

    @Test("A policy as large as the bounds allow reads back equal")
    func large() {
        // Each reverse solidus takes two bytes of the file. All names at their greatest would not fit into it.
        let name = String(repeating: "\\", count: 40)
        let numbers = 0..<Bounds.rulesMax
        let facts: [FactTest] = [
            .app(name), .claimedApp(name), .camera(CameraID(name)), .loginSession(.active), .layout(.split),
            .foregroundApps(.several), .client(.voip), .position(.front), .pressure(atLeast: .serious),
            .foreground(true), .focused(true), .multitasking(true), .usesAudio(true), .microphoneTaken(true),
            .recording(true), .bidIsNew(true), .operatorChosen(true),
        ]
        readsBack(
            Policy(
                name: name, summary: String(repeating: "ß", count: Bounds.summaryBytesMax / 2),
                causeRules: numbers.map {
                    CauseRule(name: "\(name)c\($0)", when: facts, cause: .audioDeviceInUseByAnotherClient)
                },
                ranks: (0..<Bounds.ranksMax).map { "\(name)\($0)" },
                rankRules: numbers.map { RankRule(name: "\(name)r\($0)", when: facts, rank: $0 % Bounds.ranksMax) },
                cameras: (0..<Bounds.camerasMax).map { index in
                    CameraRule(
                        camera: CameraID("\(name)\(index)"),
                        conflicts: (0..<Bounds.camerasMax).filter { $0 != index }.map { CameraID("\(name)\($0)") })
                }))
    }

    @Test("A comment stands above its part, on one line, whatever it says")
    func comments() throws {
        let text = PolicyWriter.text(Self.policy) { part in
            if part == .top("ranks") { return "the ranks" }
            return part == .rule(part.name) ? "rule \(part.name)\u{1b}[2J\nname = \"forged\"" : nil
        }
        #expect(text.contains("# the ranks\nranks = "))
        #expect(text.contains("# rule c\u{FFFD}[2J\u{FFFD}name = \"forged\"\n[[cause]]\n"))
        #expect(try PolicyFile.parse(text, file: "written.toml") == Self.policy)
    }
}
