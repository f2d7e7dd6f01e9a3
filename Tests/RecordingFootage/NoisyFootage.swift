public import FrameStream

/// Pictures as a small sensor gives them in a dim room: a scene that moves, and noise that is another in every picture.
///
/// The same on every run and every machine: what an encoder makes of it has one size.
public struct NoisyFootage {
    private let layout: PictureLayout
    private var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    private var number = 0
    /// As wide as the picture and some more, which the picture moves over; one line of bytes a row.
    private let scene: [UInt8]
    private let sceneWidth: Int
    private var picture: [UInt8]

    /// Levels of 255 that noise moves a pixel by, at most, in either direction: as a phone's sensor has it indoors. A 4K30
    /// recording of it as JPEGs of quality 90 has 2.9 GB a minute.
    private static let noise = 5
    /// Pixels that the scene moves between two pictures: a slow pan.
    private static let pan = 4

    public init(_ layout: PictureLayout) {
        self.layout = layout
        sceneWidth = layout.width + 512
        var scene = [UInt8](repeating: 0, count: sceneWidth * layout.height)
        for row in 0..<layout.height {
            for column in 0..<sceneWidth {
                // Tiles of 128 pixels of different lightness, and slopes that rise and fall across them.
                let tile = ((column >> 7) &* 31 &+ (row >> 7) &* 17) % 7
                let slope = abs((column &+ row) % 768 - 384) / 8 + abs((column &* 2 &+ 3 &* row) % 1280 - 640) / 16
                scene[row * sceneWidth + column] = UInt8(40 + tile * 12 + slope)
            }
        }
        self.scene = scene
        picture = Array(repeating: 128, count: layout.bytes)
    }

    public mutating func next() -> [UInt8] {
        let shift = number * Self.pan % 512
        number += 1
        var state = state
        /// A byte of noise: eight pixels of a row share a step of Marsaglia's xorshift.
        func random(_ column: Int) -> Int {
            if column & 7 == 0 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
            }
            return Int((state >> UInt64((column & 7) * 8)) & 0xff)
        }
        let (width, height, stride, sceneWidth) = (layout.width, layout.height, layout.stride, sceneWidth)
        let span = 2 * Self.noise + 1
        scene.withUnsafeBufferPointer { scene in
            picture.withUnsafeMutableBufferPointer { picture in
                for row in 0..<height {
                    let from = row * sceneWidth + shift
                    for column in 0..<width {
                        let noise = ((random(column) * span) >> 8) - Self.noise
                        picture[row * stride + column] = UInt8(Int(scene[from + column]) + noise)
                    }
                }
                // Colour: grey with a little noise.
                for row in height..<height + height / 2 {
                    for column in 0..<width {
                        let noise = ((random(column) * (span / 2)) >> 8) - span / 4
                        picture[row * stride + column] = UInt8(128 + noise)
                    }
                }
            }
        }
        self.state = state
        return picture
    }
}
