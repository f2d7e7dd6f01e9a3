import Arbiter
import TomlFile
package import Vocabulary

/// A fact of rules: a key of `when`, and of a `[[rank]]` itself. Attributes that a policy declares are facts as well.
package struct Fact: Sendable {
    package let name: String
    package let walk: WalkedAs
    /// The fact in words, a cell of the documents' table.
    package let meaning: String
    /// Its values, in words.
    package let takes: String
    /// Each test of it, where its values are a closed set.
    package let tests: [FactTest]
    /// - Parameters: reader, key, and the modes that the policy declares.
    let read: @Sendable (TableReader, String, [String]) -> FactTest?

    /// - Parameter tests: in the order of messages.
    private init(_ tests: [FactTest], _ walk: WalkedAs, _ meaning: String) {
        name = tests.first?.written.key ?? ""
        (self.tests, self.walk, self.meaning) = (tests, walk, meaning)
        let values = tests.map { test in (test.written.value.filter { $0 != "\"" }, test) }
        takes = values.map { "`\($0.0)`" }.joined(separator: ", ")
        read = { reader, key, _ in reader.choice(key, values) }
    }

    private init(_ test: @escaping @Sendable (Bool) -> FactTest, _ walk: WalkedAs, _ meaning: String) {
        (tests, self.walk, self.meaning) = ([test(true), test(false)], walk, meaning)
        (name, takes) = (test(true).written.key, "`true`, `false`")
        read = { reader, key, _ in reader.boolean(key).map(test) }
    }

    private init(
        _ name: String, takes: String, _ walk: WalkedAs, _ meaning: String, tests: [FactTest] = [],
        read: @escaping @Sendable (TableReader, String, [String]) -> FactTest?
    ) {
        (self.name, self.takes, self.walk, self.meaning) = (name, takes, walk, meaning)
        (self.tests, self.read) = (tests, read)
    }

    package static let all = [
        Fact("app", takes: "a name", .walked, "the kernel vouches for this app: its systemd unit") { reader, key, _ in
            reader.label(key).map(FactTest.app)
        },
        Fact("claimed-app", takes: "a name", .walked, "the client says it is this app; anybody can") { reader, key, _ in
            reader.label(key).map(FactTest.claimedApp)
        },
        Fact("user", takes: "a user id", .walked, "the app runs for this user") { reader, key, _ in
            reader.integer(key, in: Bounds.accountNumber).map { .user(UInt32($0)) }
        },
        Fact(
            Facts.LoginState.allCases.map(FactTest.loginSession), .walked,
            "this is the state of its login session; a locked one is inactive, and outside of any there is `none`"),
        Fact(
            "presence", takes: "`foreground`, `background`", .walked, "the user sees the app, in whatever layout",
            tests: [.foreground(false), .foreground(true)], read: presence),
        Fact(Presence.Layout.allCases.map(FactTest.layout), .walked, "how the user sees it"),
        Fact(FactTest.focused, .walked, "it has the focus; an app in the background never has it"),
        Fact(
            Facts.ForegroundApps.allCases.map(FactTest.foregroundApps), .walked,
            "so many of this user's apps are in front: never `none` for an app in front"),
        Fact(ClientKind.allCases.map(FactTest.client), .walked, "what kind of program the client says it is"),
        Fact(FactTest.multitasking, .walked, "the app opted in to run beside others"),
        Fact(
            "camera", takes: "an id", .walked,
            "the session is for this camera; `camclient devices` lists the ids"
        ) { reader, key, _ in reader.label(key).map { .camera(CameraID($0)) } },
        Fact(CameraPosition.allCases.map(FactTest.position), .walked, "where that camera looks"),
        Fact(FactTest.usesAudio, .walked, "the session has a microphone"),
        Fact(
            [.microphoneTaken(false), .microphoneTaken(true)], .walked,
            "another app has taken the microphone"),
        Fact(
            SystemPressure.allCases.map(FactTest.pressure), .walked, "the machine is **at least** so hard pressed"),
        Fact(FactTest.recording, .walked, "the session records"),
        Fact(
            [.bidIsNew(true), .bidIsNew(false)], .walked,
            "`new` until the session first has its camera after its start"),
        Fact(
            [.operatorChosen(false), .operatorChosen(true)], .walked,
            "the operator chose this app by hand (`camclient shell override`)"),
        Fact(
            "mode", takes: "a `[[mode]]` of the policy, or `none`", .walked,
            "it is the mode of the whole machine", read: mode),
    ]

    package static let names = all.map(\.name)

    /// `nil` for an attribute.
    static func of(_ test: FactTest) -> Fact? { all.first { $0.name == test.written.key } }

    /// A layout in place of a presence is the slip to expect: on the wire a presence is one of both.
    private static func presence(_ reader: TableReader, _ key: String, _: [String]) -> FactTest? {
        if let entry = reader.entry(key), case .string(let text) = entry.node.value,
            Presence.Layout(rawValue: text) != nil
        {
            return reader.wrongType(
                entry, takes: Wording.list(["background", "foreground"]), hint: "write layout = \"\(text)\"")
        }
        return reader.choice(key, [("background", false), ("foreground", true)]).map(FactTest.foreground)
    }

    private static func mode(_ reader: TableReader, _ key: String, _ modes: [String]) -> FactTest? {
        if modes.isEmpty, let entry = reader.entry(key) {
            return reader.wrongType(
                entry, takes: "a mode that the policy declares, and it declares none",
                hint: "declare it: a [[mode]] table with its name")
        }
        return reader.choice(key, [(Mode.none, nil)] + modes.map { ($0, $0) }).map(FactTest.mode)
    }
}

extension FactTest {
    /// The other tests of the fact; none where its values are no closed set.
    package var otherwise: [FactTest] { Fact.of(self)?.tests.filter { $0 != self } ?? [] }
}
