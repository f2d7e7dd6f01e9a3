import Vocabulary

/// The facts about one session that a rule may read, as three words that one test reads at once; `Facts` has the same
/// in words.
package struct FactBits: Hashable, Sendable, BitwiseCopyable {
    /// Names that the policy's rules mention, 16 bits each, 0 for any other: app, claimed app, user, camera.
    package var who: UInt64 = 0
    package var what: UInt64 = 0
    /// The index of the app's value of each attribute, a byte each.
    package var attributes: UInt64 = 0

    enum Who {
        static let width: UInt64 = 0xffff

        /// The bits of the name that a test reads; `nil`: the test reads none.
        static func place(of test: FactTest) -> UInt64? {
            switch test {
            case .app: 0
            case .claimedApp: 16
            case .user: 32
            case .camera: 48
            default: nil
            }
        }
    }

    /// A fact's bits in `what`.
    struct Field {
        let shift: UInt64
        let width: UInt64
        init(_ shift: UInt64, _ width: UInt64) {
            self.shift = shift
            self.width = width
        }
        var mask: UInt64 { (1 << width - 1) << shift }

        static let login = Field(0, 2)
        static let foreground = Field(2, 1)
        static let layout = Field(3, 3)
        static let focused = Field(6, 1)
        static let inFront = Field(7, 2)
        static let kind = Field(9, 2)
        static let multitasking = Field(11, 1)
        static let position = Field(12, 2)
        static let usesAudio = Field(14, 1)
        static let microphone = Field(15, 1)
        /// A bit for each reached level above `nominal`.
        static let pressure = Field(16, 3)
        static let recording = Field(19, 1)
        static let bidIsNew = Field(20, 1)
        static let chosen = Field(21, 1)
        /// The mode's place in the policy, from 1; 0: none.
        static let mode = Field(22, 6)
        /// Set for no session: a test of it never holds.
        static let impossible = Field(63, 1)
    }

    subscript(field: Field) -> UInt64 {
        @inline(__always) get { what >> field.shift & (1 << field.width - 1) }
        @inline(__always) set { what = what & ~field.mask | newValue << field.shift }
    }

    @inline(__always) func has(_ field: Field) -> Bool { what & field.mask != 0 }
}

/// A rule's `when`: the bits that it reads, and their required values.
package struct Condition: Hashable, Sendable, BitwiseCopyable {
    private(set) var mask = FactBits()
    private(set) var value = FactBits()

    @inline(__always) package func holds(for facts: FactBits) -> Bool {
        ((facts.who ^ value.who) & mask.who) | ((facts.what ^ value.what) & mask.what)
            | ((facts.attributes ^ value.attributes) & mask.attributes) == 0
    }

    func reads(_ field: FactBits.Field) -> Bool { mask.has(field) }

    mutating func require(who test: FactTest, _ number: UInt64) {
        if let place = FactBits.Who.place(of: test) { add(\.who, FactBits.Who.width << place, number) }
    }

    mutating func require(_ field: FactBits.Field, _ code: UInt64) { add(\.what, field.mask, code << field.shift) }

    mutating func require(attribute: Int, _ place: Int) {
        add(\.attributes, 0xff << UInt64(8 * attribute), UInt64(place) << UInt64(8 * attribute))
    }

    mutating func requireTheImpossible() { require(.impossible, 1) }

    private mutating func add(_ word: WritableKeyPath<FactBits, UInt64>, _ bits: UInt64, _ wanted: UInt64) {
        // Two tests of one fact for different values never hold together.
        if (value[keyPath: word] ^ wanted) & mask[keyPath: word] & bits != 0 { requireTheImpossible() }
        mask[keyPath: word] |= bits
        value[keyPath: word] |= wanted
    }
}
