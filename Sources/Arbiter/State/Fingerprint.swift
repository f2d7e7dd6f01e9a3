public import Vocabulary

/// 128 bits that stand for a state: all that exploration has to remember of it.
///
/// The same state has the same fingerprint in every run and on every machine. Two different states share one by
/// accident only, and in the largest walk we can afford (2³² states) with a chance of one in 2⁶⁴.
public struct Fingerprint: Hashable, Sendable {
    public let first: UInt64
    public let second: UInt64

    @inlinable public init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    @inlinable public static func == (a: Fingerprint, b: Fingerprint) -> Bool {
        a.first == b.first && a.second == b.second
    }

    /// The bits are spread already: a table needs no more of them.
    @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(first) }
}

/// Takes a fingerprint, word by word, of a state seen from now: moments are written as distances, ordinals as their
/// rank.
///
/// What has no order is written with `unordered`. Whatever is optional or of varying length is preceded by a word
/// that says so, so that no two states write the same words.
public struct FingerprintWriter {
    /// Each half has its own beginning, multiplier and shift, so that what one confuses the other tells apart.
    @usableFromInline var first: UInt64 = Self.firstSeed
    @usableFromInline var second: UInt64 = Self.secondSeed
    let now: Moment
    /// Those of the state, sorted.
    let ordinals: [Ordinal]
    /// A camera is written as its place in this list.
    let cameras: [CameraID]
    /// What the reader of the fingerprint cares about.
    let view: View

    enum View {
        /// Everything that tells two states apart.
        case whole
        /// Only what turns how a state goes on: no ids, no names of rules, and apps without their names.
        /// What is left of a lease counts, or only that there is one.
        case folded(readsClaims: Bool, countsLeases: Bool)
    }

    // Digits of π and odd multipliers without a pattern: any would do, as long as they never change.
    @usableFromInline static var firstSeed: UInt64 { 0x243f_6a88_85a3_08d3 }
    @usableFromInline static var secondSeed: UInt64 { 0x1319_8a2e_0370_7344 }
    @usableFromInline static var firstFactor: UInt64 { 0x9e37_79b9_7f4a_7c15 }
    @usableFromInline static var secondFactor: UInt64 { 0xd6e8_feb8_6659_fd93 }

    init(now: Moment = .zero, ordinals: [Ordinal] = [], cameras: [CameraID] = [], view: View = .whole) {
        self.now = now
        self.ordinals = ordinals
        self.cameras = cameras
        self.view = view
    }

    /// Each half is a bijection of its word: two words that differ leave both halves different.
    @inlinable public mutating func combine(_ word: UInt64) {
        first = (first ^ word) &* Self.firstFactor
        first ^= first >> 32
        second = (second &+ word) &* Self.secondFactor
        second ^= second >> 29
    }

    /// Begins again, to write another part of the same state.
    mutating func begin() { (first, second) = (Self.firstSeed, Self.secondSeed) }

    var isWhole: Bool { if case .whole = view { true } else { false } }

    var countsLeases: Bool { if case .folded(_, false) = view { false } else { true } }

    @inlinable public func finished() -> Fingerprint {
        var (a, b) = (first &* Self.secondFactor, second &* Self.firstFactor)
        a ^= a >> 31
        b ^= b >> 33
        return Fingerprint(first: a &* Self.firstFactor, second: b &* Self.secondFactor)
    }

    // MARK: Values

    @inlinable public mutating func combine(_ number: Int) { combine(UInt64(bitPattern: Int64(number))) }

    /// Up to 64 truths in one word.
    @inlinable public mutating func combine(_ truths: Bool...) {
        var word: UInt64 = 0
        for truth in truths { word = word << 1 | (truth ? 1 : 0) }
        combine(word)
    }

    public mutating func combine(_ text: String) {
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

    public mutating func combine(_ fingerprint: Fingerprint) {
        combine(fingerprint.first)
        combine(fingerprint.second)
    }

    public mutating func combine(_ duration: Duration) {
        combine(Int(duration.components.seconds))
        combine(Int(duration.components.attoseconds))
    }

    // MARK: What is seen from the state

    public mutating func combine(_ client: ClientID) { combine(client.rawValue) }
    public mutating func combine(_ session: SessionID) { combine(session.rawValue) }

    public mutating func combine(_ app: AppID) {
        combine(app.name)
        combine(UInt64(app.user))
    }

    public mutating func combine(_ camera: CameraID) {
        for index in cameras.indices where cameras[index] == camera { return combine(index) }
        combine(cameras.count)
        combine(camera.name)
    }

    /// How far away it is; what is past is here.
    mutating func combine(distanceTo moment: Moment) {
        combine(max(0, Int(moment.nanoseconds) - Int(now.nanoseconds)))
    }

    mutating func combine(ageOf moment: Moment) { combine(Int(now.nanoseconds - moment.nanoseconds)) }

    /// Its place among the state's ordinals.
    mutating func combine(_ ordinal: Ordinal) { combine(ordinals.place(of: ordinal)) }

    // MARK: What may be missing, and what has no order

    @inlinable public mutating func combine<Value>(
        _ value: Value?, _ write: (inout FingerprintWriter, Value) -> Void
    ) {
        guard let value else { return combine(false) }
        combine(true)
        write(&self, value)
    }

    @inlinable public mutating func ordered<Element>(
        _ elements: [Element], _ write: (inout FingerprintWriter, Element) -> Void
    ) {
        combine(elements.count)
        for element in elements { write(&self, element) }
    }

    @inlinable public mutating func unordered<Elements: Sequence>(
        _ elements: Elements, _ write: (inout FingerprintWriter, Elements.Element) -> Void
    ) {
        let outside = (first, second)
        var sum: (UInt64, UInt64) = (0, 0)
        for element in elements {
            (first, second) = (Self.firstSeed, Self.secondSeed)
            write(&self, element)
            let fingerprint = finished()
            sum = (sum.0 &+ fingerprint.first, sum.1 &+ fingerprint.second)
        }
        (first, second) = outside
        combine(sum.0)
        combine(sum.1)
    }
}
