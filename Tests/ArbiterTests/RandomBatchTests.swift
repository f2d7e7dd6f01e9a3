import Arbiter
import ArbiterProtocol
import CaptureTesting
import Explain
import PolicyFile
import Scenario
import Testing

/// The core against what docs/capture.md says of a batch, written down a second time (`CaptureTable`).
@Suite("100,000 random batches of a session, stopped and running, inside BeginConfiguration and outside")
struct RandomBatchTests {
    /// Some seconds.
    static let batches = 100_000
    static let batchesOfSession = 40
    static let shownMax = 5

    /// One session alone on one camera, with its recorder.
    private struct Studio {
        static let camera = CameraID("back")
        static let session = SessionID(1)
        var arbiter = Arbiter(policy: .firstCome)
        var recorder = SimulatedRecorder(camera)
        let table: CaptureTable
        var state: CaptureTable.State
        /// The batches since the outermost BeginConfiguration.
        var open: CaptureTable.Batch?
        var depth = 0
        var now = Moment.zero

        init(_ camera: CameraCapabilities, isRunning: Bool) {
            table = CaptureTable(camera)
            state = table.beginning
            recorder.capabilities = camera
            _ = step(.cameraAppeared(Self.camera, camera, seat: .usual))
            _ = step(.connected(ClientID(1), app: AppID("photos", user: 0), ClientIdentity()))
            _ = step(.created(Self.session, ClientID(1), camera: Self.camera, Configuration(), reestablished: false))
            if isRunning { _ = step(.startRunning(Self.session)) }
        }

        /// - Returns: whether it was refused.
        mutating func step(_ event: Event) -> Refusal? {
            now = now + .milliseconds(1)
            var refusal: Refusal?
            var events = [event]
            while !events.isEmpty {
                for effect in arbiter.step(events.removeFirst(), at: now) {
                    if case .refused(let said) = effect { refusal = said }
                    recorder.take(effect, at: now)
                }
                while let answer = recorder.takeAnswer(by: now) { events.append(answer) }
            }
            return refusal
        }

        var configuration: Configuration? { arbiter.status(of: Self.session)?.configuration }

        /// One batch, or one end of a nest; what is wrong about what came of it.
        mutating func act(_ dice: inout BatchDice) -> String? {
            let before = configuration
            switch dice.below(10) {
            case 0 where depth < 3: return begin()
            case 1...2 where depth > 0: return commit(before)
            default: return configure(dice.batch(on: table.camera), before)
            }
        }

        private mutating func begin() -> String? {
            if depth == 0 { open = [:] }
            depth += 1
            return step(.beginConfiguration(Self.session)).map { "begin: \($0.error.message)" }
        }

        mutating func commit(_ before: Configuration?) -> String? {
            depth -= 1
            let refusal = step(.commitConfiguration(Self.session))
            guard depth == 0, let batch = open else {
                return refusal.map { "an inner commit: \($0.error.message)" } ?? unchanged(since: before)
            }
            open = nil
            return judge(batch, refusal, before, "commit of \(batch.said)")
        }

        private mutating func configure(_ batch: Configuration, _ before: Configuration?) -> String? {
            let refusal = step(.configure(Self.session, batch))
            guard let open else { return judge(batch.byWord, refusal, before, batch.byWord.said) }
            let all = table.collected(batch.byWord, into: open)
            let isTaken = table.verdict(all, over: state).isTaken
            if isTaken { self.open = all }
            guard isTaken == (refusal == nil) else {
                return "\(batch.byWord.said) into \(open.said) over \(state): \(refusal?.error.message ?? "taken")"
            }
            return unchanged(since: before)
        }

        private mutating func judge(
            _ batch: CaptureTable.Batch, _ refusal: Refusal?, _ before: Configuration?, _ what: String
        ) -> String? {
            switch (table.verdict(batch, over: state), refusal) {
            case (.refused, _?): return unchanged(since: before)
            case (.refused(let key), nil): return "\(what) over \(state): taken, and the table refuses its \(key)"
            case (.taken, let refusal?): return "\(what) over \(state): refused: \(refusal.error.message)"
            case (.taken(let next), nil):
                state = next
                // Where a ramp was ended, only the recorder core knows.
                if batch["cancelVideoZoomRamp"] == .flag(true), isRunning,
                    let zoom = configuration?[.videoZoomFactor]?.asNumber, zoom >= 1,
                    zoom <= table.camera.formats[next.format].videoMaxZoomFactor
                {
                    state.zoom = zoom
                }
                return isRunning ? inForce().map { "\(what): \($0)" } : nil
            }
        }

        private func unchanged(since before: Configuration?) -> String? {
            configuration == before ? nil : "the configuration has changed"
        }

        var isRunning: Bool {
            if case .running? = arbiter.status(of: Self.session)?.state { true } else { false }
        }

        /// `Session1.Configuration` of a running session, against the table.
        func inForce() -> String? {
            guard let whole = configuration else { return "there is no configuration" }
            let format = table.camera.formats[state.format].name
            if whole[.activeFormat] != .text(format) {
                return "\(whole[.activeFormat]?.description ?? "") for \(format)"
            }
            let (shortest, longest) = table.frameDurations(state)
            for (key, says) in [
                (ConfigurationKey.activeVideoMinFrameDuration, shortest), (.activeVideoMaxFrameDuration, longest),
                (.videoZoomFactor, state.zoom),
            ] {
                let has = whole[key]?.asNumber ?? 0
                if abs(has - says) > 2e-6 * says { return "\(key.rawValue) \(has) for \(says)" }
            }
            let mode = table.stabilization(state)
            if whole[.activeVideoStabilizationMode]?.description != mode {
                return "stabilization is not \(mode ?? "none")"
            }
            let isHDR = whole[.videoHDREnabled].map { $0 == .flag(true) } ?? false
            return isHDR == table.isVideoHDREnabled(state) ? nil : "video HDR is \(isHDR)"
        }
    }

    @Test(
        "The core's verdicts are those of the table, a refusal changes nothing, and what is in force is what the table says"
    )
    func agreement() throws {
        var dice = BatchDice(seed: 2015)
        let cameras = try CameraPlaces.names.map { try CameraFile.named($0).capabilities }
        var wrong: [String] = []
        for session in 0..<(Self.batches / Self.batchesOfSession) {
            let camera = cameras[session % cameras.count]
            var studio = Studio(camera, isRunning: dice.chance(50))
            for _ in 0..<Self.batchesOfSession {
                guard let difference = studio.act(&dice) else { continue }
                wrong.append("\(camera.name)\(studio.isRunning ? ", running" : ""): \(difference)")
                break
            }
            guard wrong.isEmpty else { continue }
            // A stopped session's configuration shows once it runs, and it starts outside of batches only.
            while studio.depth > 0 {
                if let difference = studio.commit(studio.configuration) { wrong.append(difference) }
            }
            if !studio.isRunning {
                _ = studio.step(.startRunning(Studio.session))
                if let difference = studio.inForce() { wrong.append("\(camera.name), started: \(difference)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) differ:\n\(wrong.prefix(Self.shownMax).joined(separator: "\n"))")
        print("\(Self.batches) batches through the core")
    }
}
