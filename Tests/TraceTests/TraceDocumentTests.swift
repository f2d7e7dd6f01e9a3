import Arbiter
import ArbiterProtocol
import Foundation
import Scenario
import Testing

/// `docs/trace.md` lists what is written, from the tables that write it. `CAMARB_REWRITE=1` writes its lists anew, and that
/// run fails.
@Suite("docs/trace.md", .serialized)
struct TraceDocumentTests {
    @Test(
        "The table of the events has every event, with its members in their order, their types, and its words in scenarios"
    )
    func events() throws {
        let rows = EventDescription.all.map { described in
            let sentence = described.sentence
            let words = sentence.commands.map { command in
                "`\(command)\(sentence.verb.map { " … \($0)" } ?? "")`"
            }
            return
                "| `\(described.kind.rawValue)` | \(Self.list(described.members.map { ($0.key, $0.type) })) | \(words.joined(separator: ", ")) |"
        }
        try expect("events", rows)
    }

    @Test("The table of the effects has every effect, with its members in their order and their types")
    func effects() throws {
        #expect(Set(Self.effects.map(\.described.kind)) == Set(EffectKind.allCases))
        let rows = Self.effects.map { effect in
            // Of the signal whose arguments follow, only what every signal has.
            let members = effect.described.values.entries.prefix(effect.described.kind == .notify ? 4 : .max)
            let rest = effect.described.kind == .notify ? ", and the signal's other arguments by their names" : ""
            let listed = members.map { ($0.key, $0.value?.signature ?? "") }
            return "| `\(effect.described.kind.rawValue)` | \(Self.list(listed))\(rest) |"
        }
        try expect("effects", rows)
    }

    private static func list(_ members: [(key: String, type: String)]) -> String {
        members.map { "\($0.key) `\($0.type)`" }.joined(separator: ", ")
    }

    /// One of each, with every member there.
    private static let effects: [Effect] = {
        guard let bracket = try? PhotoBracket(exposureTargetBiases: [0]) else { preconditionFailure("one is allowed") }
        let (camera, grant, session, app) = (CameraID("back"), GrantID(1), SessionID(1), AppID("photos", user: 1000))
        let reason = RecordingReason(.videoDeviceInUseByAnotherClient, by: .app("call"))
        let question = Question(
            id: 1, app: app, isClaimed: false, session: session, camera: camera, until: Moment(nanoseconds: 1))
        return [
            .refused(Refusal(.notRunning, "It does not run.", rule: "running")), .answered(1),
            .cut(camera, grant, why: .interrupted, next: SessionID(3), reason: reason), .killRecorder(camera),
            .open(camera, grant, session, Configuration()),
            .resume(camera, grant, session, Configuration()), .configure(camera, grant, session, Configuration()),
            .openStream(camera, grant, session), .closeStreams(camera, grant, session),
            .capturePhoto(camera, grant, session, 1),
            .capturePhotoBracket(camera, grant, session, first: 1, bracket),
            .attachMicrophone(camera, grant, session, MicrophoneFormat(sampleRate: 48_000, channels: 1)),
            .detachMicrophone(camera, grant), .startRecording(camera, grant, session, 1),
            .stopRecording(camera, 1, why: .accessLost, reason: reason), .pauseRecording(camera, 1),
            .resumeRecording(camera, 1), .appendMetadata(camera, 1), .setSlate(camera, grant, session, true),
            .setPicture(camera, grant, session, Configuration([.frameRate: .number(15)])),
            .notify(ClientID(1), session, sequence: 1, .didStopRunning),
            .announce(.camerasChanged), .announce(.holderChanged(camera, app)),
            .announce(.prioritiesChanged(user: 1000)), .announce(.question(question)),
            .announce(.questionEnded(1, user: 1000, .late)),
            .announce(.answerKept(app, isClaimed: false, .allow, by: .user)),
        ]
    }()

    /// That the rows between two marks are these.
    private func expect(_ mark: String, _ rows: [String]) throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/trace.md")
        var text = try String(contentsOf: document, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- \(mark) -->\n"))
        let end = try #require(text.range(of: "<!-- /\(mark) -->"))
        let written = text[begin.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
        if written != rows, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" {
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: rows.joined(separator: "\n") + "\n")
            try text.write(to: document, atomically: true, encoding: .utf8)
        }
        #expect(written == rows, "docs/trace.md differs from the table; CAMARB_REWRITE=1 writes it anew")
    }
}
