import ArbiterProtocol
import CaptureTesting
import PolicyFile
import Testing

/// The one check against what docs/capture.md says, written down a second time (`CaptureTable`).
@Suite("100,000 random batches on the cameras that are shipped")
struct RandomBatchTests {
    static let batches = 100_000
    /// One after the other on one session: as many as lead to every kind of configuration.
    static let batchesOfSession = 50
    /// A failure is shown so often; the others are of its kind.
    static let shownMax = 5

    /// A session's configuration, by the check and by the table.
    private struct Both {
        let check: ConfigurationCheck
        let table: CaptureTable
        var wanted = Configuration()
        var state: CaptureTable.State
        private(set) var taken = 0

        init(_ camera: CameraCapabilities) {
            check = ConfigurationCheck(capabilities: camera)
            table = CaptureTable(camera)
            state = table.beginning
        }

        /// Why the two do not agree about a batch; nil when they do.
        mutating func take(_ batch: Configuration, isRecording: Bool) -> String? {
            let problem = check.problem(batch, over: wanted, isRecording: isRecording)
            let verdict = table.verdict(batch.byWord, over: state, isRecording: isRecording)
            switch (problem, verdict) {
            case (let problem?, .refused):
                return problem.hasSuffix(".") && ConfigurationKey.allCases.contains { problem.hasPrefix($0.rawValue) }
                    ? nil : "the sentence begins with no key: \(problem)"
            case (let problem?, .taken): return "refused (\(problem)), and the table takes it"
            case (nil, .refused(let key)): return "taken, and the table refuses its \(key)"
            case (nil, .taken(let next)):
                wanted = check.merged(batch, into: wanted)
                for key in [ConfigurationKey.videoZoomRampRate, .cancelVideoZoomRamp] { wanted[key] = nil }
                state = next
                taken += 1
                return difference()
            }
        }

        /// The difference between the configuration in force and the table's.
        private func difference() -> String? {
            guard let settings = check.settings(wanted) else { return "nothing is in force" }
            let format = table.camera.formats[state.format]
            guard settings.format == format else { return "\(settings.format.name) for \(format.name)" }
            let (shortest, longest) = table.frameDurations(state)
            let numbers = [
                ("activeVideoMinFrameDuration", settings.minFrameDuration, shortest),
                ("activeVideoMaxFrameDuration", settings.maxFrameDuration, longest),
                ("videoZoomFactor", settings.videoZoomFactor, state.zoom),
                (
                    "exposureDuration", settings.value(.exposureDuration)?.asNumber ?? 0,
                    table.exposureDuration(state) ?? 0
                ),
            ]
            // Rates are turned into durations and back; the edges of a format are kept to within that.
            for (key, has, says) in numbers where abs(has - says) > 2e-6 * says { return "\(key) \(has) for \(says)" }
            let words = [
                ("sessionPreset", settings.sessionPreset.rawValue, state.preset ?? "inputPriority"),
                ("videoHDREnabled", "\(settings.isVideoHDREnabled)", "\(table.isVideoHDREnabled(state))"),
                (
                    "activeVideoStabilizationMode",
                    settings.configuration[.activeVideoStabilizationMode]?.description ?? "none",
                    table.stabilization(state) ?? "none"
                ),
            ]
            for (key, has, says) in words where has != says { return "\(key) \(has) for \(says)" }
            return nil
        }
    }

    @Test("get the verdicts that the table gives, and what comes of them is the same; about a third is valid")
    func agreement() throws {
        var dice = BatchDice(seed: 12)
        let cameras = try CameraPlaces.names.map { try CameraFile.named($0).capabilities }
        #expect(cameras.count >= 10)
        var taken = 0
        var wrong: [String] = []
        for session in 0..<(Self.batches / Self.batchesOfSession) {
            let camera = cameras[session % cameras.count]
            var both = Both(camera)
            for _ in 0..<Self.batchesOfSession {
                let batch = dice.batch(on: camera)
                let isRecording = dice.chance(10)
                let before = both
                guard let difference = both.take(batch, isRecording: isRecording) else { continue }
                let (asked, over) = (batch.byWord.said, before.wanted.byWord.said)
                wrong.append("\(camera.name)\(isRecording ? ", recording" : ""): \(asked) over \(over): \(difference)")
                both = before
            }
            taken += both.taken
        }
        #expect(wrong.isEmpty, "\(wrong.count) differ:\n\(wrong.prefix(Self.shownMax).joined(separator: "\n"))")
        let share = 100 * taken / Self.batches
        #expect((25...45).contains(share), "\(share) % are valid")
        print("\(Self.batches) batches, \(share) % of them valid")
    }
}
