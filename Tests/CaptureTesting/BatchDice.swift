package import ArbiterProtocol

/// Batches by chance, of which about a third can be taken: right values and wrong ones, near the edges of some format.
package struct BatchDice {
    /// SplitMix64: the same seed gives the same batches on every machine.
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    package mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

    /// A dozen keys at most, and never another camera's: those are of the broker, and no check knows them.
    package mutating func batch(on camera: CameraCapabilities) -> Configuration {
        var batch: CaptureTable.Batch = [:]
        for _ in 0..<pick([1, 2, 2, 3, 3, 4]) { topic(on: camera, &batch) }
        if chance(4) { batch[pick(ConfigurationKey.allCases).rawValue] = nonsense() }
        batch["camera"] = nil
        return Configuration(byWord: batch)
    }

    private mutating func topic(on camera: CameraCapabilities, _ batch: inout CaptureTable.Batch) {
        switch below(15) {
        case 0...1: batch["sessionPreset"] = .text(chance(95) ? pick(CaptureTable.presets.sorted()) : "best")
        case 2...3: format(of: camera, &batch)
        case 4...5: frames(&batch)
        case 6...7: zoom(of: camera, &batch)
        case 8...9: exposure(of: camera, &batch)
        case 10: video(&batch)
        case 11: lamps(&batch)
        case 12: own(&batch)
        default: control(of: camera, &batch)
        }
    }

    private mutating func format(of camera: CameraCapabilities, _ batch: inout CaptureTable.Batch) {
        let format = pick(camera.formats)
        var name = chance(60) ? format.name : "\(format.pixelFormat) \(format.width)x\(format.height)"
        if chance(4) { name = pick(["420v 1x1@1", "", "420p 1280x720", "\(name) "]) }
        batch["activeFormat"] = .text(name)
        if chance(10) { batch["sessionPreset"] = .text(pick(["inputPriority", "inputPriority", "photo"])) }
    }

    private static let rates = [1, 2, 3, 5, 6, 10, 15, 20, 24, 25, 29.97, 30, 30, 59, 60, 120, 240]
    private static let wrongRates = [0, -1, 0.5, 61, 241, 1000]

    private mutating func frames(_ batch: inout CaptureTable.Batch) {
        let rate = chance(95) ? pick(Self.rates) : pick(Self.wrongRates)
        switch below(6) {
        case 0...2: batch["frameRate"] = .number(rate)
        case 3: batch["activeVideoMinFrameDuration"] = .number(1 / pick(Self.rates))
        case 4: batch["activeVideoMaxFrameDuration"] = .number(1 / pick(Self.rates))
        default:
            let other = pick(Self.rates)
            batch["activeVideoMinFrameDuration"] = .number(1 / (chance(90) ? max(rate, other) : rate))
            batch["activeVideoMaxFrameDuration"] = .number(1 / (chance(90) ? min(rate, other) : other))
        }
    }

    private mutating func zoom(of camera: CameraCapabilities, _ batch: inout CaptureTable.Batch) {
        let most = pick(camera.formats).videoMaxZoomFactor
        if chance(90) {
            batch["videoZoomFactor"] = .number(pick([1, 1, 1.4545, 2, 2, 8, most, most * 1.001, 0.5, 0]))
        }
        if chance(25) { batch["videoZoomRampRate"] = .number(pick([0.5, 1, 2, 100, 101, 0, -1])) }
        if chance(20) { batch["cancelVideoZoomRamp"] = .flag(chance(50)) }
    }

    private mutating func exposure(of camera: CameraCapabilities, _ batch: inout CaptureTable.Batch) {
        let optics = pick(camera.formats).optics
        let seconds = [0.000013, 0.001, 1.0 / 240, 1.0 / 60, 1.0 / 30, 1.0 / 15, 0.1, 0.5, 2]
        if chance(70) {
            batch["exposureMode"] = .text(chance(75) ? "custom" : pick(["locked", "auto", "continuousAuto"]))
        }
        if chance(50) {
            batch["exposureDuration"] = .number(chance(80) ? pick(seconds) : optics.exposureDuration?.most ?? 1)
        }
        if chance(50) {
            let ends = [optics.iso?.least ?? 100, optics.iso?.most ?? 100]
            batch["iso"] = .number(chance(70) ? pick([50, 100, 400, 700]) : pick(ends + [1, 5000, ends[1] + 1]))
        }
    }

    private mutating func video(_ batch: inout CaptureTable.Batch) {
        if chance(50) {
            batch["preferredVideoStabilizationMode"] = .text(pick(["off", "standard", "cinematic", "auto"]))
            return
        }
        if chance(70) { batch["automaticallyAdjustsVideoHDREnabled"] = .flag(chance(30)) }
        if chance(60) { batch["videoHDREnabled"] = .flag(chance(60)) }
    }

    private mutating func lamps(_ batch: inout CaptureTable.Batch) {
        if chance(60) { batch["torchMode"] = .text(pick(["off", "off", "on", "auto"])) }
        if chance(40) { batch["flashMode"] = .text(pick(["off", "off", "on", "auto"])) }
        if chance(20) { batch["torchLevel"] = .number(pick([0, 0.5, 1, 1.5])) }
    }

    private mutating func own(_ batch: inout CaptureTable.Batch) {
        batch["usesAudio"] = .flag(chance(50))
        if chance(30) { batch["whenBusy"] = .text(pick(["refuse", "interrupt", "never"])) }
    }

    /// Any of the camera's, mostly with a value that it takes, and with its mode.
    private mutating func control(of camera: CameraCapabilities, _ batch: inout CaptureTable.Batch) {
        let control = pick(camera.controls)
        let key = control.key.rawValue
        switch control.takes {
        case .flag: batch[key] = .flag(chance(50))
        case .words(let words): batch[key] = .text(chance(95) ? pick(words) : "custom")
        case .range(let least, let most, _): batch[key] = .number(pick([least, most, (least + most) / 2, most + 1]))
        case .point: batch[key] = .point(x: pick([0, 0.25, 1]), y: pick([0, 0.5, 1, 1, 1.5]))
        case .gains(let most): batch[key] = .gains(red: pick([1, 2, most, most + 1]), green: 1, blue: pick([1, 1.5]))
        }
        if let mode = CaptureTable.governed[key], chance(60) { batch[mode.key] = mode.manual }
    }

    private mutating func nonsense() -> ConfigurationValue {
        pick([
            .text("nonsense"), .number(7), .number(.infinity), .number(.nan), .flag(true), .point(x: 0.5, y: .nan),
            .gains(red: 1, green: 1, blue: 0.5), .text(""),
        ])
    }
}
