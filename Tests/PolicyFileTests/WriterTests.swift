import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Writing policies")
struct WriterTests {
    /// A policy that says something other than the default wherever it can.
    static let full = Policy(
        name: "full", summary: "Everything.", sources: PresenceSource.allCases,
        shellUnit: "org.gnome.Shell@wayland.service", agentUnit: "camagent.service",
        rights: Rights(
            seat: false, users: [Rights.Account(number: 1001)], groups: [Rights.Account(name: "video", number: nil)],
            services: ["booth.service"], identity: .strong, apps: .ask),
        attributes: [Attribute(name: "duty", values: ["on-call", "on-shift", "off"], default: "on-shift")],
        modes: [Mode(name: "night", at: [CalendarSpan(from: 22 * 60, to: 6 * 60)], setBy: [.root])],
        causeRules: [
            CauseRule(
                name: "cause", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground,
                access: [.preview])
        ],
        ranks: ["strong", "weak"],
        rankRules: [
            RankRule(
                name: "rank", when: FactTests.onePerKey + [.attribute("duty", "off"), .mode(nil)], rank: 1,
                isImmediate: true,
                grace: .seconds(5),
                minHold: .seconds(10), lease: .seconds(180)),
            RankRule(name: "deny", rank: 1, deny: true),
        ],
        contention: Contention(
            order: [.operatorChosen, .focused, .attribute("duty"), .foreground, .recording, .oldest], tie: .newcomer,
            sameApp: .refuse,
            ownConflict: .refuse, newcomer: .refuse, loser: .evict, sharing: .readOnly, shareWith: .everyone,
            reDecide: .open, coolDown: .seconds(3), budget: 100,
            givesWay: .longestHeld,
            strongestMayExceed: true, backfill: true),
        cameras: [CameraRule(camera: CameraID("a"), conflicts: [CameraID("b")], cost: 60)],
        pressureSettle: .milliseconds(1500),
        pressure: PressureSettings(
            isWatched: false, memory: PressureSettings.Levels(critical: 40),
            processor: PressureSettings.Levels(fair: 70, serious: 90.5),
            temperature: PressureSettings.Levels(serious: 85), throttling: .fair),
        statements: [
            Statement(name: "never", .never(Statement.Part.allCases.map { Statement.Player($0) })),
            Statement(
                name: "across", .never([Statement.Player(.holder), Statement.Player(.waiting)]),
                unless: [.init(when: [.focused(true)]), .init(by: [.app("a.service")])], by: [.recording(true)],
                isAcrossCameras: true),
            Statement(name: "always", .always(when: [.focused(true)], is: .running)),
            Statement(name: "within", .within(when: [], is: .running, .seconds(600)), by: []),
            Statement(
                name: "warned", .warned(when: [], .seconds(20)),
                unless: [.init(when: [.focused(true)], by: [.app("a.service")])]),
            Statement(name: "at most", .atMost(when: [.focused(true)], .seconds(1800), in: .seconds(7200))),
            Statement(name: "fair", .fair(when: [], is: .running)),
        ])

    private func readsBack(_ policy: Policy, _ place: SourceLocation = #_sourceLocation) {
        let text = PolicyWriter.text(policy)
        do {
            let again = try PolicyFile.parse(text, file: "written.toml")
            #expect(again == policy, "\(text.prefix(4000))", sourceLocation: place)
        } catch {
            Issue.record("\(error)\nin\n\(text.prefix(4000))", sourceLocation: place)
        }
    }

    @Test("Every policy that ships reads back equal", arguments: try Checkout.policies())
    func shipped(file: String) throws {
        readsBack(try PolicyFile.load(path: Checkout.path("policies/\(file)")))
    }

    @Test(
        "A name reads back, whatever is in it",
        arguments: [
            "\"", "\\", "'", "#", " ", "=", "[a]", "ä€😀", "\\u0041", "\"\"\"", String(repeating: "\"", count: 90),
        ])
    func oddNames(_ odd: String) {
        var policy = Self.full
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
        let facts: [FactTest] =
            [.app(name), .claimedApp(name), .camera(CameraID(name))] + FactTests.onePerKey.dropFirst(4)
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

    @Test("Every key of the format is written for a policy that uses everything")
    func keys() {
        readsBack(Self.full)
        let lines = PolicyWriter.text(Self.full).split(separator: "\n")
        let written = Set(lines.flatMap { $0.split(whereSeparator: { " {,".contains($0) }).map(String.init) })
        for key in PolicyFile.keys where !Self.spent.contains(key) {
            #expect(written.contains(key), "\(key) is never written")
        }
    }

    /// What a file says and a policy does not keep: reading uses it up.
    private static let spent: Set<String> = ["include"]

    @Test("The policy that uses everything leaves nothing at its default, so that no new part is forgotten")
    func fullness() {
        expectDifferent(Self.full, Policy(name: "", sources: []), "Policy")
        expectDifferent(Self.full.contention, Contention(), "Contention")
        expectDifferent(Self.full.rights, Rights(), "Rights")
        expectDifferent(Self.full.pressure, PressureSettings(), "PressureSettings")
        expectDifferent(
            Self.full.causeRules[0], CauseRule(name: "", when: [], cause: .audioDeviceInUseByAnotherClient), "CauseRule"
        )
        expectDifferent(Self.full.rankRules[0], RankRule(name: "", rank: 0), "RankRule", except: ["deny"])
        expectDifferent(Self.full.cameras[0], CameraRule(camera: CameraID("")), "CameraRule")
    }

    private func expectDifferent<T>(_ value: T, _ plain: T, _ name: String, except: Set<String> = []) {
        for (mine, other) in zip(Mirror(reflecting: value).children, Mirror(reflecting: plain).children)
        where !except.contains(mine.label ?? "") && mine.label != "sharing" {
            #expect("\(mine.value)" != "\(other.value)", "\(name).\(mine.label ?? "?") is at its default")
        }
    }

    @Test("A comment stands above its part, on one line, whatever it says")
    func comments() throws {
        let text = PolicyWriter.text(Self.full) { part in
            switch part {
            case .rule(let name): "rule \(name)\u{1b}[2J\nname = \"forged\""
            case .top("ranks"): "the ranks"
            case .top, .access, .attribute, .mode, .pressure, .contention, .speaker, .camera, .statement: nil
            }
        }
        #expect(text.contains("# the ranks\nranks = "))
        #expect(text.contains("# rule cause\u{FFFD}[2J\u{FFFD}name = \"forged\"\n[[cause]]\n"))
        #expect(try PolicyFile.parse(text, file: "written.toml") == Self.full)
    }
}

extension FactTests {
    /// Each fact once.
    static let onePerKey = all.enumerated().filter { index, fact in
        !all[..<index].contains { $0.written.key == fact.written.key }
    }.map(\.element)
}
