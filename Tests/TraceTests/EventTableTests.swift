import Arbiter
import ArbiterProtocol
import Campaigns
import Scenario
import Testing
import Workbench

/// Every event is described once, and everything that writes or reads events goes by that.
@Suite("The table of the events")
struct EventTableTests {
    private static let rounds = 200

    @Test("Every event is described, and none twice")
    func complete() {
        #expect(EventDescription.all.map(\.kind) == EventKind.allCases)
        for kind in EventKind.allCases { #expect(EventDescription.of(kind).kind == kind) }
    }

    @Test("An event has the members that its description lists, of those types", arguments: EventKind.allCases)
    func members(_ kind: EventKind) {
        let described = EventDescription.of(kind)
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

    @Test("Every event that a line can say reads back from its line", arguments: EventKind.allCases)
    func lines(_ kind: EventKind) throws {
        var generated = GeneratedEvent(random: SeededRandom(seed: 11), isSayable: true)
        for _ in 0..<Self.rounds {
            let event = generated.event(kind)
            var names = Self.names(before: event)
            var writer = ScenarioWriter(names: names)
            writer.learn(event)
            guard let line = writer.text(of: event) else {
                #expect(EventDescription.of(kind).sentence.reading == .never)
                continue
            }
            let actions = try Scenario.input(line, names: &names)
            #expect(actions.last == Self.action(of: event), "\(line)")
        }
    }

    @Test("A line begins with a command that its event has, and names its verb", arguments: EventKind.allCases)
    func commands(_ kind: EventKind) throws {
        let sentence = EventDescription.of(kind).sentence
        var generated = GeneratedEvent(random: SeededRandom(seed: 5), isSayable: true)
        let event = generated.event(kind)
        var writer = ScenarioWriter(names: Self.names(before: event))
        writer.learn(event)
        guard let line = writer.text(of: event) else {
            #expect(sentence.commands.isEmpty)
            return
        }
        let words = line.split(separator: " ").map(String.init)
        #expect(sentence.commands.contains(try #require(words.first)))
        for verb in [sentence.verb].compactMap(\.self) { #expect(words.contains(verb), "\(line)") }
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

    @Test("News of another grant differ in the grant alone")
    func grants() {
        var generated = GeneratedEvent(random: SeededRandom(seed: 2))
        let grant = GrantID(77)
        for kind in EventKind.allCases {
            let event = generated.event(kind)
            let other = event.described.event(event, of: grant)
            let (before, after) = (event.described.values(of: event).members, event.described.values(of: other).members)
            let says = event.subjects.contains { if case .grant = $0 { true } else { false } }
            for (old, new) in zip(before, after) {
                #expect(new == (says && old.key == "grant" ? .init(key: "grant", value: .integer(77)) : old))
            }
        }
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
        "A notice comes to subscribers with everything that its session hears, and reads back as that",
        arguments: GeneratedNotice.all)
    func notices(_ notice: SessionEvent) throws {
        var names = Names()
        let client = names.addClient("photo booth", app: AppID("photos", user: 1000))
        let session = names.addSession("photo booth", client: client)
        let wire = try #require(
            Effect.notify(client, session, sequence: 7, notice).decided(names), "every notice is told")
        #expect(
            try DecidedPart(wire, of: 9)
                == .notice(
                    app: "photo booth", session, SessionSignal(sequence: 7, decision: 9, event: notice)))
    }

    @Test("A refusal comes with its sentence and its rule; orders to recorders do not come")
    func refusals() throws {
        let refusal = Refusal(.notRunning, "The session does not run.", rule: "running")
        let wire = try #require(Effect.refused(refusal).decided(Names()))
        #expect(try DecidedPart(wire, of: 1) == .refused(refusal.error, rule: "running"))
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
        #expect(
            try fact(.placed(AppID("two words", user: 1000), .foreground(.split), focused: true, by: .agent))
                == .note("presence two words split focused by agent"))
        #expect(try fact(.sleep(false)) == .note("wake"))
        let capabilities = CameraCapabilities(
            name: "Back", position: .back, sensorWidth: 1, sensorHeight: 1, formats: [])
        #expect(try fact(.cameraAppeared(CameraID("back"), capabilities)) == .note("plug back"))
        #expect(try fact(.policyLoaded(.firstCome)) == .note("policy-reload built-in"))
        #expect(
            try fact(.created(session, client, camera: nil, Configuration(), reestablished: false))
                == .appeared(lane: "photo booth"))
        #expect(try fact(.closed(session)) == .left(lane: "photo booth"))
        #expect(try fact(.disconnected(client)) == .left(lane: "photo booth"))
        #expect(try fact(.startRunning(session)) == nil)
        #expect(try fact(.recorderCut(CameraID("back"), GrantID(1))) == nil)
    }

    @Test("An event reads back from its line of JSON", arguments: GeneratedNotice.all + GeneratedNotice.more)
    func json(_ notice: SessionEvent) throws {
        let entry = LogEntry.event(
            Moment(nanoseconds: 7), app: "the \"photos\" app\n", SessionSignal(sequence: 3, decision: 9, event: notice))
        let line = entry.json.text
        #expect(!line.contains("\n"))
        #expect(try LogEntry(json: JSONReader.read(line)) == entry)
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

    /// What a reader makes of the event's line: of a recorder's news it leaves to the stage what only that knows.
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

/// One of each notice, with everything in it that a notice can have.
enum GeneratedNotice {
    private static let cutRecording: RecordingFinished = {
        var end = RecordingFinished(
            recording: 3, why: .interrupted, frames: 60, duration: .seconds(2), bytes: 60_000,
            nextChance: .whenInterruptionEnds)
        (end.framesLeftOut, end.lastCapture) = (4, Moment(nanoseconds: 7))
        (end.cause, end.interrupter) = (.systemSleep, .app("call"))
        return end
    }()

    private static let causes = CauseSet([.videoDeviceInUseByAnotherClient, .systemSleep])

    /// What else a line of a log can have.
    static let more: [SessionEvent] = [
        .wasInterrupted(id: 2, causes: causes, interrupter: .anotherUsersApp, cutting: 7, rule: ""),
        .interruptionEnded(id: 4, causesItHad: causes, duration: .seconds(2), willResume: false),
        .sharersChanged([]), .accessChanged(.all, causes: CauseSet(), rule: ""),
        .recordingFinished(
            RecordingFinished(
                recording: 4, why: .recorderReset, frames: nil, duration: nil, bytes: nil, nextChance: .now)),
        .configurationApplied(
            asked: Configuration([
                .usesAudio: .flag(true), .focusPointOfInterest: .point(x: 0.5, y: 0.25),
                .whiteBalanceGains: .gains(red: 2, green: 1, blue: 1.5),
            ]), inForce: Configuration(), by: .resumption),
    ]

    static let all: [SessionEvent] = {
        let asked = Configuration([.frameRate: .number(29.5), .activeFormat: .text("420v 1280x720@30")])
        return [
            .willBeInterrupted(
                id: 1, cause: .systemSleep, deadline: Moment(nanoseconds: 5_000_000_000), rule: "Calls come first"),
            .interruptionWithdrawn(id: 1),
            .wasInterrupted(
                id: 2, causes: causes, interrupter: .app("call, by"), cutting: 3, rule: "Calls \"come\" first"),
            .wasInterrupted(id: 3, causes: causes, interrupter: nil, cutting: nil, rule: ""),
            .interruptionChanged(id: 4, causes: causes, interrupter: .anotherUsersApp, rule: "x"),
            .interruptionEnded(id: 4, causesItHad: causes, duration: .nanoseconds(1), willResume: true, cut: 3),
            .didStartRunning(grant: GrantID(8)), .didStopRunning,
            .accessChanged([.preview, .photo], causes: causes, rule: "Slide over"),
            .sharersChanged([.app("mirror"), .anotherUsersApp]), .sessionStopped(.leaseExpired, rule: "Photo booth"),
            .recordingStarted(3), .recordingPaused(3), .recordingResumed(3),
            .recordingFinished(cutRecording),
            .photoCaptured(PhotoCaptured(photo: 1, width: 640, height: 480, bytes: 99)),
            .photoCaptured(PhotoCaptured(photo: 2, width: 0, height: 0, bytes: 0, error: "the disk is full")),
            .configurationApplied(asked: asked, inForce: asked, by: .client), .rampFinished(videoZoomFactor: 2.5),
            .cameraStateChanged(Configuration([.adjustingFocus: .flag(true), .pipelineRebuilds: .number(2)])),
            .runtimeError(code: "stall", message: "no frame for 2 s"),
        ]
    }()
}
