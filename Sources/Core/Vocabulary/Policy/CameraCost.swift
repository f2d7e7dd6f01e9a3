/// A camera's part of the budget while it is in use: one number, or numbers by its format, because 1080p in Motion JPEG
/// and 720p raw do not take as much of a bus.
public struct CameraCost: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// For every format without a key.
    public let other: Int
    /// In an order of their own, so that two equal tables compare equal.
    public let formats: [Format]

    /// Formats that cost the same: a size, up to a rate, in one pixel format or in any.
    public struct Format: Hashable, Sendable {
        public var width: Int
        public var height: Int
        /// Frames a second, at most.
        public var frameRate: Double
        /// As in `CameraFormat`; `nil`: any.
        public var pixelFormat: String?
        public var cost: Int

        public init(width: Int, height: Int, frameRate: Double, pixelFormat: String? = nil, cost: Int) {
            (self.width, self.height, self.frameRate) = (width, height, frameRate)
            (self.pixelFormat, self.cost) = (pixelFormat, cost)
        }

        /// As a policy file has it: `1920x1080@30 MJPG`.
        public var key: String {
            "\(width)x\(height)@\(frameRate.shortDescription)\(pixelFormat.map { " \($0)" } ?? "")"
        }
    }

    public init(_ cost: Int) {
        other = cost
        formats = []
    }

    public init(integerLiteral cost: Int) { self.init(cost) }

    /// - Parameter other: `nil`: as much as the dearest key. An unforeseen format then waits, rather than
    /// overload the resource behind the budget.
    public init(formats: [Format], other: Int?) {
        self.formats = formats.sorted {
            ($0.width, $0.height, $0.frameRate, $0.pixelFormat ?? "")
                < ($1.width, $1.height, $1.frameRate, $1.pixelFormat ?? "")
        }
        self.other = other ?? formats.map(\.cost).max() ?? 0
    }

    public var isByFormat: Bool { !formats.isEmpty }

    /// No format costs more: counts where the format is not known, and shows whether the camera costs anything.
    public var dearest: Int { formats.reduce(other) { max($0, $1.cost) } }

    /// Keys with a pixel format come before those without; of these the key with the lowest rate that is enough. A rate
    /// between two keys costs as much as the faster key.
    package func of(_ format: CameraFormat, at frameRate: Double) -> Int {
        var best: Format?
        for key in formats where key.width == format.width && key.height == format.height {
            // A rate from a duration is off by the rest of a division.
            guard key.frameRate >= frameRate * (1 - Self.roundingShare),
                key.pixelFormat.map({ $0 == format.pixelFormat }) ?? true
            else { continue }
            if let before = best {
                let (names, named) = (key.pixelFormat != nil, before.pixelFormat != nil)
                guard names == named ? key.frameRate < before.frameRate : names else { continue }
            }
            best = key
        }
        return best?.cost ?? other
    }

    private static let roundingShare = 1e-6
}
