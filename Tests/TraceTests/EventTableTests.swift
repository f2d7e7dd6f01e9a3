import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

/// Every event is described once, and everything that writes or reads events goes by that.
@Suite("The table of the events")
struct EventTableTests {
    private static let rounds = 200

    @Test("An event has the members that its description lists, of those types", arguments: EventKind.allCases)
    func members(_ kind: EventKind) {
        let described = EventDescription.of(kind)
        #expect(described.kind == kind && EventDescription.all.count { $0.kind == kind } == 1)
        var generated = GeneratedEvent(random: SeededRandom(seed: 3))
        for _ in 0..<Self.rounds {
            let values = described.values(of: generated.event(kind))
            #expect(values.members.map(\.key) == described.members.map(\.key))
            for entry in values.entries {
                let declared = described.members.first { $0.key == entry.key }?.type
                if let value = entry.value { #expect(value.signature == declared, "\(entry.key)") }
            }
        }
        for key in DecidedKey.all {
            #expect(!described.members.contains { $0.key == key }, "“\(key)” of Decided is a member of \(kind)")
        }
    }

    @Test(
        "Every event that a line can say reads back from its line, which begins with a command that it has and names its verb",
        arguments: EventKind.allCases)
    func lines(_ kind: EventKind) throws {
        let sentence = EventDescription.of(kind).sentence
        var generated = GeneratedEvent(random: SeededRandom(seed: 11), isSayable: true)
        for _ in 0..<Self.rounds {
            let event = generated.event(kind)
            var names = Self.names(before: event)
            var writer = ScenarioWriter(names: names)
            writer.learn(event)
            guard let line = writer.text(of: event) else {
                #expect(sentence.reading == .never && sentence.commands.isEmpty)
                continue
            }
            #expect(try Scenario.input(line, names: &names).last == Self.action(of: event), "\(line)")
            let words = line.split(separator: " ").map(String.init)
            #expect(sentence.commands.contains(try #require(words.first)))
            if let verb = sentence.verb { #expect(words.contains(verb), "\(line)") }
        }
    }

    @Test("No line means another event: commands and verbs together are told apart")
    func unambiguous() {
        for described in EventDescription.all where described.sentence.reading == .byFields {
            for command in described.sentence.commands {
                #expect(EventDescription.with(command: command).map(\.kind) == [described.kind], "\(command)")
            }
        }
        #expect(Set(EventDescription.recorderVerbs).count == EventDescription.recorderVerbs.count)
    }

    // MARK: Watchers

    @Test(
        "Watchers have every field of an event but what is too long, and nothing for what is not there",
        arguments: EventKind.allCases)
    func decided(_ kind: EventKind) throws {
        var generated = GeneratedEvent(random: SeededRandom(seed: 13))
        for _ in 0..<Self.rounds {
            let event = generated.event(kind)
            let wire = event.decided(Names())
            let part = try DecidedPart(wire, of: 4)
            guard case .event(let name, _, _, let fields) = part else {
                Issue.record("\(part) is no event")
                return
            }
            #expect(name == kind.rawValue)
            let members = event.described.values(of: event).members.filter { $0.value != .null }
            #expect(fields.keys == members.map(\.key).filter { $0 != "capabilities" })
            // The rights to cameras are in a policy's text.
            if case .policyLoaded(let policy) = event { #expect(fields["policy"]?.string == policy.name) }
        }
    }

    @Test(
        "A notice comes to subscribers with everything that its session hears, and reads back as that, also from a log",
        arguments: shapes)
    func notices(_ notice: SessionEvent) throws {
        var names = Names()
        let client = names.addClient("photo booth", app: AppID("photos", user: 1000))
        let session = names.addSession("photo booth", client: client)
        let wire = try #require(
            Effect.notify(client, session, sequence: 7, notice).decided(names), "every notice is told")
        let signal = SessionSignal(sequence: 7, decision: 9, event: notice)
        #expect(try DecidedPart(wire, of: 9) == .notice(app: "photo booth", session, signal))
        let entry = LogEntry.event(Moment(nanoseconds: 7), app: "the \"photos\" app\n", signal)
        let line = entry.json.text
        #expect(!line.contains("\n"))
        #expect(try LogEntry(json: JSONReader.read(line)) == entry)
    }

    /// One of each shape that a notice's arguments can have; `WireTests` has one of each notice.
    private static let shapes: [SessionEvent] = {
        let causes = CauseSet([.videoDeviceInUseByAnotherClient, .systemSleep])
        var cut = RecordingFinished(
            recording: 3, why: .interrupted, frames: 60, duration: .seconds(2), bytes: 60_000,
            nextChance: .whenInterruptionEnds)
        (cut.framesLeftOut, cut.lastCapture) = (4, Moment(nanoseconds: 7))
        (cut.cause, cut.interrupter) = (.systemSleep, .app("call"))
        let asked = Configuration([
            .frameRate: .number(29.5), .usesAudio: .flag(true), .activeFormat: .text("420v 1280x720@30"),
            .focusPointOfInterest: .point(x: 0.5, y: 0.25), .whiteBalanceGains: .gains(red: 2, green: 1, blue: 1.5),
        ])
        return [
            .willBeInterrupted(
                InterruptionWarning(
                    id: 1, cause: .systemSleep, deadline: Moment(nanoseconds: 5_000_000_000), rule: "Calls come first")),
            .wasInterrupted(
                Interruption(
                    id: 2, causes: causes, interrupter: .app("call, by"), recording: 3, rule: "Calls \"come\" first")),
            .wasInterrupted(Interruption(id: 3, causes: causes, rule: "")),
            .wasInterrupted(
                Interruption(id: 4, causes: CauseSet(), interrupter: .anotherUsersApp, recording: 7, rule: "")),
            .interruptionEnded(
                InterruptionEnd(id: 4, causes: causes, duration: .nanoseconds(1), willResume: true, recording: 3)),
            .didStartRunning(GrantID(8)), .didStopRunning, .sharersChanged([]),
            .sharersChanged([.app("mirror"), .anotherUsersApp]), .recordingFinished(cut),
            .recordingFinished(
                RecordingFinished(
                    recording: 4, why: .recorderReset, frames: nil, duration: nil, bytes: nil, nextChance: .now)),
            .photoCaptured(PhotoCaptured(photo: 2, width: 0, height: 0, bytes: 0, error: "the disk is full")),
            .configurationApplied(ConfigurationChange(asked: asked, inForce: Configuration(), by: .resumption)),
            .rampFinished(videoZoomFactor: 2.5), .runtimeError(code: "stall", message: "no frame for 2 s"),
        ]
    }()

    @Test("A refusal comes with its sentence and its rule; orders to recorders do not come")
    func refusals() throws {
        let refusal = Refusal(.notRunning, "The session does not run.", rule: "running")
        let wire = try #require(Effect.refused(refusal).decided(Names()))
        let part = try DecidedPart(wire, of: 1)
        #expect(part == .refused(refusal.error, rule: "running"))
        #expect(part.entry(of: 1, at: .zero) == .fact(.zero, .note("refused NotRunning because running")))
        #expect(Effect.killRecorder(CameraID("back")).decided(Names()) == nil)
        #expect(Effect.announce(.holderChanged(CameraID("back"), AppID("a", user: 1))).decided(Names()) == nil)
    }

    @Test("What a watcher does not know yet is kept, and what is broken is an error that names it")
    func strangeParts() throws {
        #expect(
            try DecidedPart(["effect": .string("moved"), "to": .uint64(3)], of: 1)
                == .other("moved", ["to": .uint64(3)]))
        let newer: WireDictionary = ["effect": .string("notify"), "notice": .string("Waved")]
        #expect(try DecidedPart(newer, of: 1) == .other("notify", ["notice": .string("Waved")]))
        for broken: WireDictionary in [
            [:], ["effect": .uint64(1)], ["effect": .string("notify")],
            ["effect": .string("notify"), "notice": .string("DidStartRunning"), "sequence": .uint64(1)],
        ] {
            let error = #expect(throws: BrokerError.self) { try DecidedPart(broken, of: 1) }
            #expect(error?.kind == .invalidArguments && error?.message.contains("Decided") == true)
        }
    }

    @Test("A picture notes what the world did, in the scenario's words and without their quotation marks")
    func notes() throws {
        var names = Names()
        let client = names.addClient("photo booth", app: AppID("photos", user: 1000))
        let session = names.addSession("photo booth", client: client)
        func fact(_ event: Event) throws -> TimelineFact? {
            guard case .fact(_, let fact)? = try DecidedPart(event.decided(names), of: 1).entry(of: 1, at: .zero) else {
                return nil
            }
            return fact
        }
        let placed = Event.placed(AppID("two words", user: 1000), .foreground(.split), focused: true, by: .agent)
        #expect(try fact(placed) == .note("presence two words split focused by agent"))
        #expect(try fact(.sleep(false)) == .note("wake"))
        #expect(try fact(.policyLoaded(.firstCome)) == .note("policy-reload built-in"))
        let created = Event.created(session, client, camera: nil, Configuration(), reestablished: false)
        #expect(try fact(created) == .appeared(lane: "photo booth"))
        #expect(try fact(.closed(session)) == .left(lane: "photo booth"))
        #expect(try fact(.disconnected(client)) == .left(lane: "photo booth"))
        #expect(try fact(.startRunning(session)) == nil)
        #expect(try fact(.recorderCut(CameraID("back"), GrantID(1))) == nil)
    }

    // MARK: What a line means

    /// The names before the event, as a broker that is asked in the middle of its life has them.
    private static func names(before event: Event) -> Names {
        var names = Names()
        if case .connected = event { return names }
        let client = names.addClient("photos", app: GeneratedEvent.app)
        if case .created = event { return names }
        names.addSession("photos", client: client)
        return names
    }

    /// A reader's action for the event's line: of a recorder's news it leaves a part to the stage.
    private static func action(of event: Event) -> Action {
        switch event {
        case .ready(let session, let id): .ready(session, id)
        case .recorderConfigured(let camera, let grant, _, let inForce):
            .answer(.recorderConfigured(camera, grant, asked: Configuration(), inForce: inForce), grant: grant)
        case .recorderRefusedConfiguration(let camera, let grant, _, let message):
            .answer(
                .recorderRefusedConfiguration(camera, grant, asked: Configuration(), message: message), grant: grant)
        case .deviceFailed(let camera, _, let message):
            .answer(.deviceFailed(camera, .device, message: message), grant: nil)
        case .recorderStreaming(_, let grant, _), .recorderCut(_, let grant), .recorderClosedStreams(_, let grant, _),
            .rampFinished(_, let grant, _), .cameraStateChanged(_, let grant, _):
            .answer(event, grant: grant)
        case .recorderGone, .recorderTrouble: .answer(event, grant: nil)
        default: .event(event)
        }
    }
}
