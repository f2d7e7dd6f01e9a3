import ArbiterProtocol
package import FrameStream

/// One captured frame on its way to all who want it: drawn once, scaled once for each other size, and copied for the rest.
///
///     let frame = FrameInHand(source, layout, mark, …)
///     frame.add(memory, layout)             // for each who wants it; nothing is drawn yet
///     try frame.draw()
///
/// Threading: the capture thread only, before the next frame is taken.
struct FrameInHand {
    private let source: any CameraSource
    /// Of the camera's own picture.
    private let layout: PictureLayout
    private let mark: BurntInMark
    private let scalers: PictureScalers
    private let pool: PicturePool
    /// The first of each layout is drawn, the others are copies.
    private var wanted: [PictureLayout: [UnsafeMutableRawBufferPointer]] = [:]
    private(set) var kept: [PictureLayout: KeptPicture] = [:]

    init(
        _ source: any CameraSource, _ layout: PictureLayout, _ mark: BurntInMark, _ scalers: PictureScalers,
        _ pool: PicturePool
    ) {
        (self.source, self.layout, self.mark) = (source, layout, mark)
        (self.scalers, self.pool) = (scalers, pool)
    }

    mutating func add(_ memory: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        wanted[layout, default: []].append(memory)
    }

    /// The frame in memory of the recorder core's own, once for each layout: whoever keeps it only reads.
    mutating func keep(_ layout: PictureLayout) throws(BrokerError) {
        guard kept[layout] == nil else { return }
        let picture = try newPicture(layout)
        kept[layout] = picture
        add(picture.memory, layout)
    }

    func draw() throws(BrokerError) {
        guard !wanted.isEmpty else { return }
        // Where everybody wants another size, the camera's own is drawn all the same, to be scaled.
        let (whole, scratch) = try camerasOwn()
        try source.render(into: whole, layout: layout)
        if source.isMarked { mark.burnIn(whole, layout, text: source.showsText) }
        for (other, memories) in wanted where other != layout {
            guard let first = memories.first else { continue }
            do throws(MediaFault) { try scalers.scale(UnsafeRawBufferPointer(whole), layout, into: first, other) } catch
            {
                throw BrokerError(.outOfResources, "A frame could not be scaled: \(error.description).")
            }
            // A cut from the middle may have lost the mark's ends.
            if source.isMarked { mark.draw(into: first, layout: other) }
        }
        for memories in wanted.values {
            guard let first = memories.first else { continue }
            for copy in memories.dropFirst() { copy.copyMemory(from: UnsafeRawBufferPointer(first)) }
        }
        withExtendedLifetime(scratch) {}
    }

    private func camerasOwn() throws(BrokerError) -> (UnsafeMutableRawBufferPointer, KeptPicture?) {
        if let first = wanted[layout]?.first { return (first, nil) }
        let scratch = try newPicture(layout)
        return (scratch.memory, scratch)
    }

    private func newPicture(_ layout: PictureLayout) throws(BrokerError) -> KeptPicture {
        if let picture = KeptPicture(layout: layout, captured: mark.captureTime, pool: pool) { return picture }
        throw BrokerError(.outOfResources, "There is no memory for a frame of \(layout.width)x\(layout.height).")
    }
}

/// Scalers from the camera's picture to those of sessions, whose tables are made once for each. They are as many as there are
/// sizes among the camera's formats and their photos, and end with the grant.
/// Threading: the capture thread only.
final class PictureScalers {
    private var scalers: [PictureLayout: Scaler] = [:]

    /// Cut from the middle to the other picture's shape, and never stretched.
    func scale(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, into memory: UnsafeMutableRawBufferPointer,
        _ other: PictureLayout
    ) throws(MediaFault) {
        let scaler = scalers[other] ?? Scaler()
        scalers[other] = scaler
        try scaler.scale(picture, layout, into: memory, other)
    }
}

extension Scaler {
    package func scale(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, into memory: UnsafeMutableRawBufferPointer,
        _ other: PictureLayout
    ) throws(MediaFault) {
        let middle = SensorWindow.Crop.middle(of: layout, shapedAs: other)
        var source = Planes(picture, layout)
        source.crop(middle, Self.nv12)
        try scale(
            source, into: Planes(UnsafeRawBufferPointer(memory), other),
            Shape(middle, Self.nv12, isFullRange: layout.isFullRange, other))
    }
}

extension SensorWindow.Crop {
    /// The largest part in the middle of a picture that has another picture's shape, but for a pixel.
    package static func middle(of layout: PictureLayout, shapedAs other: PictureLayout) -> SensorWindow.Crop {
        SensorWindow(
            rasterWidth: layout.width, rasterHeight: layout.height, shapedAs: other.width, other.height
        ).crop(zoom: 1, width: other.width, height: other.height).even
    }
}

extension PictureLayout {
    /// The same where it fits into another picture; else the largest of its shape that does.
    func within(_ other: PictureLayout) -> PictureLayout {
        if width <= other.width, height <= other.height { return self }
        let middle = SensorWindow.Crop.middle(of: other, shapedAs: self)
        return PictureLayout(width: middle.width, height: middle.height, pixelFormat: pixelFormat)
    }
}

extension DetectedObject {
    /// Where the object lies in the middle part of the picture; `nil` where it lies beside it.
    package func inside(_ part: SensorWindow.Crop, of layout: PictureLayout) -> DetectedObject? {
        let (x, width) = Self.inside(box.x, box.width, part.x, part.width, of: layout.width)
        let (y, height) = Self.inside(box.y, box.height, part.y, part.height, of: layout.height)
        guard width > 0, height > 0 else { return nil }
        return DetectedObject(type: type, id: id, box: Box(x: x, y: y, width: width, height: height))
    }

    private static func inside(
        _ begin: Double, _ length: Double, _ partBegin: Int, _ partLength: Int, of whole: Int
    ) -> (Double, Double) {
        func place(_ share: Double) -> Double {
            min(max((share * Double(whole) - Double(partBegin)) / Double(partLength), 0), 1)
        }
        return (place(begin), place(begin + length) - place(begin))
    }
}
