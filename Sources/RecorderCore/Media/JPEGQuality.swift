/// Which quality the next of a recording's JPEGs gets, so that they stay within a size.
///
/// Sizes follow the picture, and the picture changes slowly: a little over the budget lowers the quality at once, and it comes
/// back only after a while well below, so that it does not swing. A pure value.
package struct JPEGQuality: Hashable {
    /// Of the next picture.
    package private(set) var quality = Self.most
    /// Bytes that one picture may have.
    private let budget: Double
    /// Of pictures at this quality: an average over the last few, in bytes; 0: none yet.
    private var average = 0.0
    private var calm = 0

    /// As photographs have it, where they begin to look untouched; and where blocks begin to show.
    package static let most: Int32 = 90
    package static let least: Int32 = 60
    /// The average follows a new size by so much: about eight pictures, a quarter of a second.
    private static let weight = 0.125
    /// Of the budget: above this the quality falls, below that it may rise. A point of quality changes the size by 2 to 6 %,
    /// less than what lies between them, so that a step never calls for the one back.
    private static let high = 0.97
    private static let low = 0.85
    /// Pictures at one quality before it rises by a point: a second or less, so that a bright flash does not show in it.
    private static let calmMin = 15

    /// - Parameter budget: bytes of a picture.
    package init(budget: Double) { self.budget = budget }

    /// A picture of so many bytes came of `quality`.
    package mutating func note(_ bytes: Int) {
        average = average == 0 ? Double(bytes) : average + Self.weight * (Double(bytes) - average)
        calm += 1
        if average > Self.high * budget, quality > Self.least {
            // A point for each 4 % too much, and one: a large excess is over in a few pictures.
            let excess = average / (Self.high * budget) - 1
            step(to: max(Self.least, quality - 1 - Int32(min(excess / 0.04, 30))))
        } else if average < Self.low * budget, quality < Self.most, calm >= Self.calmMin {
            step(to: quality + 1)
        }
    }

    private mutating func step(to next: Int32) {
        // What came of another quality says too little about this one.
        average = 0
        calm = 0
        quality = next
    }
}
