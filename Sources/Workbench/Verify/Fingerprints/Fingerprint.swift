import Arbiter
import ArbiterProtocol

/// 128 bits that stand for a state: all that exploration has to remember of it.
///
/// The same state has the same fingerprint in every run and on every machine. Two different states share one by
/// accident only, and in the largest walk we can afford (2³² states) with a chance of one in 2⁶⁴.
public struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
    public let first: UInt64
    public let second: UInt64

    /// The bits are spread already: a table needs no more of them.
    public func hash(into hasher: inout Hasher) { hasher.combine(first) }
}

/// Takes a fingerprint, word by word. What has no order is written with `unordered`. Whatever is optional or of varying
/// length is preceded by a word that says so, so that no two states write the same words.
struct FingerprintWriter: BitwiseCopyable {
    /// Each half has its own beginning, multiplier and shift, so that what one confuses the other tells apart.
    private var first: UInt64 = Self.firstSeed
    private var second: UInt64 = Self.secondSeed

    // Digits of π and odd multipliers without a pattern: any would do, as long as they never change.
    private static var firstSeed: UInt64 { 0x243f_6a88_85a3_08d3 }
    private static var secondSeed: UInt64 { 0x1319_8a2e_0370_7344 }
    private static var firstFactor: UInt64 { 0x9e37_79b9_7f4a_7c15 }
    private static var secondFactor: UInt64 { 0xd6e8_feb8_6659_fd93 }

    /// Each half is a bijection of its word: two words that differ leave both halves different.
    @inline(__always) mutating func combine(_ word: UInt64) {
        first = (first ^ word) &* Self.firstFactor
        first ^= first >> 32
        second = (second &+ word) &* Self.secondFactor
        second ^= second >> 29
    }

    @inline(__always) func finished() -> Fingerprint {
        var (a, b) = (first &* Self.secondFactor, second &* Self.firstFactor)
        a ^= a >> 31
        b ^= b >> 33
        return Fingerprint(first: a &* Self.firstFactor, second: b &* Self.secondFactor)
    }

    // MARK: Values

    @inline(__always) mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }
    @inline(__always) mutating func combine(_ number: Int64) { combine(UInt64(bitPattern: number)) }
    @inline(__always) mutating func combine(_ truth: Bool) { combine(truth ? 1 : 0 as UInt64) }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            combine(bytes.count)
            var rest = UnsafeRawBufferPointer(bytes)
            while rest.count >= 8 {
                combine(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
                rest = UnsafeRawBufferPointer(rebasing: rest[8...])
            }
            var last: UInt64 = 0
            for byte in rest { last = last << 8 | UInt64(byte) }
            if !rest.isEmpty { combine(last) }
        }
    }

    @inline(__always) mutating func combine(_ fingerprint: Fingerprint) {
        combine(fingerprint.first)
        combine(fingerprint.second)
    }

    mutating func combine(_ duration: Duration) {
        combine(duration.components.seconds)
        combine(duration.components.attoseconds)
    }

    // MARK: What may be missing, and what has no order

    @inline(__always) mutating func combine<Value>(_ value: Value?, _ write: (inout FingerprintWriter, Value) -> Void) {
        guard let value else { return combine(false) }
        combine(true)
        write(&self, value)
    }

    @inline(__always) mutating func ordered<Element>(
        _ elements: [Element], _ write: (inout FingerprintWriter, Element) -> Void
    ) {
        combine(elements.count)
        for element in elements { write(&self, element) }
    }

    @inline(__always) mutating func unordered<Elements: Sequence>(
        _ elements: Elements, _ write: (inout FingerprintWriter, Elements.Element) -> Void
    ) {
        var sum = UnorderedSum()
        for element in elements {
            var one = FingerprintWriter()
            write(&one, element)
            sum.add(one)
        }
        sum.write(into: &self)
    }
}

/// Fingerprints of things without an order, added up.
struct UnorderedSum: BitwiseCopyable {
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    @inline(__always) mutating func add(_ writer: FingerprintWriter) { add(writer.finished()) }

    @inline(__always) mutating func add(_ fingerprint: Fingerprint) {
        first &+= fingerprint.first
        second &+= fingerprint.second
    }

    @inline(__always) func write(into writer: inout FingerprintWriter) {
        writer.combine(first)
        writer.combine(second)
    }
}

extension Fingerprint {
    /// Of bytes, in their order: what is kept beside a walk's results, to tell whether they are still of the same.
    public init(of bytes: UnsafeRawBufferPointer) {
        var writer = FingerprintWriter()
        writer.combine(bytes.count)
        var rest = bytes
        while rest.count >= 8 {
            writer.combine(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest[8...])
        }
        for byte in rest { writer.combine(UInt64(byte)) }
        self = writer.finished()
    }

    public init(of text: String) {
        var text = text
        self = text.withUTF8 { Fingerprint(of: UnsafeRawBufferPointer($0)) }
    }

    /// 32 digits.
    public var text: String {
        [first, second].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

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
