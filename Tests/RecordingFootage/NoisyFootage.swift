public import FrameStream

/// Pictures as a small sensor gives them in a dim room: a scene that moves, and noise that is another in every picture.
///
/// The same on every run and every machine: what an encoder makes of it has one size.
public struct NoisyFootage {
    public let layout: PictureLayout
    private var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    private var number = 0
    /// A scene as wide as the picture and some more, which the picture moves over; one line of bytes a row.
    private let scene: [UInt8]
    private let sceneWidth: Int
    public private(set) var picture: [UInt8]

    /// Levels of 255 that noise moves a pixel by, at most, in either direction.
    private let noise: Int
    /// As a phone's sensor has it indoors: a 4K30 recording of it as JPEGs of quality 90 has 2.9 GB a minute.
    public static let noiseUsual = 5
    /// Pixels that the scene moves between two pictures: a slow pan.
    private static let pan = 4

    public init(_ layout: PictureLayout, noise: Int = NoisyFootage.noiseUsual) {
        self.layout = layout
        self.noise = noise
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

    /// The next picture.
    public mutating func next() -> [UInt8] {
        let shift = number * Self.pan % 512
        number += 1
        var state = state
        let (width, height, stride, sceneWidth) = (layout.width, layout.height, layout.stride, sceneWidth)
        let noise = noise
        let noiseSpan = 2 * noise + 1
        scene.withUnsafeBufferPointer { scene in
            picture.withUnsafeMutableBufferPointer { picture in
                for row in 0..<height {
                    Self.add(
                        scene: scene, row * sceneWidth + shift, to: picture, row * stride, count: width, noise: noise,
                        &state)
                }
                // Colour: grey with a little noise.
                for row in 0..<height / 2 {
                    let start = stride * height + row * stride
                    for column in 0..<width {
                        if column & 7 == 0 { Self.step(&state) }
                        let random = Int((state >> UInt64((column & 7) * 8)) & 0xff)
                        picture[start + column] = UInt8(128 + ((random * (noiseSpan / 2)) >> 8) - noiseSpan / 4)
                    }
                }
            }
        }
        self.state = state
        return picture
    }

    private static func add(
        scene: UnsafeBufferPointer<UInt8>, _ from: Int, to picture: UnsafeMutableBufferPointer<UInt8>, _ to: Int,
        count: Int, noise: Int, _ state: inout UInt64
    ) {
        for column in 0..<count {
            // Eight pixels share a step of the generator, a byte each.
            if column & 7 == 0 { step(&state) }
            let random = Int((state >> UInt64((column & 7) * 8)) & 0xff)
            picture[to + column] = UInt8(Int(scene[from + column]) + ((random * (2 * noise + 1)) >> 8) - noise)
        }
    }

    /// Marsaglia's xorshift.
    private static func step(_ state: inout UInt64) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
    }
}
