import Arbiter
import ArbiterProtocol
import PolicyFile
import Synchronization

/// 128 bits that stand for a state, the same in all walks of a process. Different states share one only by accident: in the largest
/// walk (2³² states) with a chance of one in 2⁶⁴.
public struct Fingerprint: Hashable, Sendable, BitwiseCopyable {
    public let first: UInt64
    public let second: UInt64

    /// The bits are spread already.
    public func hash(into hasher: inout Hasher) { hasher.combine(first) }
}

/// Takes a fingerprint word by word. Elements without an order are an `UnorderedSum`. An optional, or an array, is preceded by a word
/// for its presence or length, so that no two states write the same words.
struct FingerprintWriter: BitwiseCopyable {
    /// The halves differ in seed, multiplier and shift, so that a collision of one is none of the other.
    private var first: UInt64 = Self.firstSeed
    private var second: UInt64 = Self.secondSeed

    // Digits of π and odd multipliers without a pattern: any would do, as long as they never change.
    private static var firstSeed: UInt64 { 0x243f_6a88_85a3_08d3 }
    private static var secondSeed: UInt64 { 0x1319_8a2e_0370_7344 }
    private static var firstFactor: UInt64 { 0x9e37_79b9_7f4a_7c15 }
    private static var secondFactor: UInt64 { 0xd6e8_feb8_6659_fd93 }

    /// Each half is a bijection of its word.
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

    @inline(__always) mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }
    @inline(__always) mutating func combine(_ number: Int64) { combine(UInt64(bitPattern: number)) }
    @inline(__always) mutating func combine(_ truth: Bool) { combine(truth ? 1 : 0 as UInt64) }

    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(bytes.count)
        var rest = bytes
        while rest.count >= 8 {
            combine(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest[8...])
        }
        var last: UInt64 = 0
        for byte in rest { last = last << 8 | UInt64(byte) }
        if !rest.isEmpty { combine(last) }
    }

    /// By the value's own hash, for values that hardly ever change.
    mutating func combine(words: some Hashable) {
        for half in 0..<2 {
            var hasher = Hasher()
            hasher.combine(half)
            hasher.combine(words)
            combine(hasher.finalize())
        }
    }

    @inline(__always) mutating func combine(_ fingerprint: Fingerprint) {
        combine(fingerprint.first)
        combine(fingerprint.second)
    }

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
}

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
    public init(of bytes: UnsafeRawBufferPointer) {
        var writer = FingerprintWriter()
        writer.combine(bytes)
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

extension Policy {
    /// Of the policy's text, so that no key can be forgotten.
    package var fingerprint: Fingerprint { PolicyFingerprints.of(self) }
}

/// A walk loads the same few policies at every other step, and writing one takes as long as some thirty steps.
private enum PolicyFingerprints {
    /// More than a walk loads.
    private static let rememberedMax = 8
    private static let remembered = Mutex<[(policy: Policy, fingerprint: Fingerprint)]>([])

    static func of(_ policy: Policy) -> Fingerprint {
        remembered.withLock { remembered in
            if let known = remembered.first(where: { $0.policy == policy }) { return known.fingerprint }
            // Users and groups count by their numbers.
            let fingerprint = Fingerprint(of: PolicyWriter.text(policy, numbersOnly: true))
            if remembered.count == rememberedMax { remembered.removeFirst() }
            remembered.append((policy, fingerprint))
            return fingerprint
        }
    }
}
