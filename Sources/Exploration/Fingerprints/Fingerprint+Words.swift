import Arbiter
import ArbiterProtocol

// What a state has in words. Nearly always it is empty, or what it was a step before.

extension FingerprintWriter {
    mutating func combine(_ configuration: Configuration) {
        combine(configuration.count)
        if configuration.isEmpty { return }
        for (key, value) in configuration.ordered {
            combine(key.rawValue)
            combine(value)
        }
    }

    private mutating func combine(_ value: ConfigurationValue) {
        switch value {
        case .text(let text):
            combine(0)
            combine(text)
        case .number(let number):
            combine(1)
            // Zero has two patterns, and is equal to itself.
            combine(number == 0 ? 0 : number.bitPattern)
        case .flag(let flag): combine(flag ? 2 : 3)
        case .point, .gains: for number in value.numbers { combine(number == 0 ? 0 : number.bitPattern) }
        }
    }

    mutating func combine(_ capabilities: CameraCapabilities) {
        combine(capabilities.name)
        combine(capabilities.position.rawValue)
        combine(capabilities.sensorWidth)
        combine(capabilities.sensorHeight)
        ordered(capabilities.formats) { writer, format in
            writer.combine(format.pixelFormat)
            writer.combine(format.width)
            writer.combine(format.height)
            writer.combine(format.minFrameRate.bitPattern)
            writer.combine(format.maxFrameRate.bitPattern)
            writer.combine(format.videoMaxZoomFactor.bitPattern)
            writer.combine(format.videoZoomFactorUpscaleThreshold.bitPattern)
            writer.combine(format.isBinned)
            writer.combine(format.fieldOfView.bitPattern)
            writer.combine(format.optics)
        }
        ordered(capabilities.controls) { $0.combine($1) }
        combine(capabilities.defaultFormatIndex)
    }

    private mutating func combine(_ optics: CameraFormat.Optics) {
        combine(optics.highResolutionStill) {
            $0.combine($1.width)
            $0.combine($1.height)
        }
        combine(optics.autoFocusSystem.rawValue)
        for range in [optics.iso, optics.exposureDuration] {
            combine(range) {
                $0.combine($1.least.bitPattern)
                $0.combine($1.most.bitPattern)
            }
        }
        ordered(optics.videoStabilizationModes) { $0.combine($1.rawValue) }
        combine(optics.isVideoHDRSupported)
    }

    private mutating func combine(_ control: CameraControl) {
        combine(control.key.rawValue)
        // Which of the three it is follows from the key.
        switch control.takes {
        case .flag: break
        case .words(let words): ordered(words) { $0.combine($1) }
        case .range(let least, let most, let step):
            combine(least.bitPattern)
            combine(most.bitPattern)
            combine(step.bitPattern)
        case .point: break
        case .gains(let most): combine(most.bitPattern)
        }
        combine(control.usual)
    }

    mutating func combine(_ values: AttributeValues) {
        ordered(values.pairs) { writer, pair in
            writer.combine(pair.name)
            writer.combine(pair.value)
        }
    }

    mutating func combine(_ texts: ClientTexts) {
        combine(texts.claimedApp) { $0.combine($1) }
        combine(texts.loweredTo) { $0.combine($1) }
        combine(texts.loweredAttributes)
        ordered(texts.groups) { $0.combine(UInt64($1)) }
    }

    mutating func combine(_ settings: SessionSettings) {
        combine(settings.wanted)
        combine(settings.confirmed)
        combine(settings.heard) { $0.combine($1) }
        combine(settings.open.depth)
        combine(settings.open.batch)
        ordered(settings.others) { writer, other in
            writer.combine(Int(other.camera.index))
            writer.combine(other.wanted)
        }
    }

    mutating func combine(_ app: AppID) {
        combine(app.name)
        combine(UInt64(app.user))
    }
}

extension ClientTexts {
    var isEmpty: Bool { claimedApp == nil && loweredTo == nil && loweredAttributes.isEmpty && groups.isEmpty }
}
