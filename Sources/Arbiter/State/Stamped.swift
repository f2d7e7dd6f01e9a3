/// A value that is only ever replaced as a whole, with its fingerprint: copying it and telling two apart costs next to
/// nothing, however large they are.
struct Stamped<Value: Fingerprinted & Hashable & Sendable>: Hashable, Sendable {
    private final class Box: Sendable {
        let value: Value
        let stamp: Fingerprint

        init(_ value: Value) {
            self.value = value
            var writer = FingerprintWriter()
            value.write(into: &writer)
            stamp = writer.finished()
        }
    }

    private let box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value { _read { yield box.value } }
    var stamp: Fingerprint { box.stamp }

    static func == (a: Stamped, b: Stamped) -> Bool { a.box === b.box || a.value == b.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// What writes all that tells two of its kind apart.
protocol Fingerprinted {
    func write(into writer: inout FingerprintWriter)
}
