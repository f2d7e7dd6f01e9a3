/// Bytes with the places where they are cut: how many, each as a 256th of the whole, and the bytes.
struct CutBytes {
    static let cutsMax = 7
    var bytes: [UInt8]
    /// In order, each within the bytes.
    var cuts: [Int]

    init(_ input: [UInt8]) {
        let count = Int(input.first ?? 0) % (Self.cutsMax + 1)
        bytes = Array(input.dropFirst(1 + count))
        let length = bytes.count
        cuts = input.dropFirst().prefix(count).map { Int($0) * length / 256 }.sorted()
    }

    var pieces: [[UInt8]] {
        zip([0] + cuts, cuts + [bytes.count]).map { Array(bytes[$0..<$1]) }
    }

    var singly: [[UInt8]] { bytes.map { [$0] } }
}
