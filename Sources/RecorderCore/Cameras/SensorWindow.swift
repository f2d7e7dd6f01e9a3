/// The part of a sensor that a format reads, and what a zoom leaves of it: a crop around the middle.
///
/// Up to the upscale threshold the crop has at least as many pixels as the picture, so nothing is lost.
struct SensorWindow: Hashable {
    /// Pixels of the whole raster, and of the part read at zoom 1.
    var rasterWidth: Int
    var rasterHeight: Int
    var readWidth: Int
    var readHeight: Int

    struct Crop: Hashable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    /// - Parameter zoom: from 1.
    func crop(zoom: Double) -> Crop {
        let width = max(1, min(rasterWidth, Int((Double(readWidth) / zoom).rounded())))
        let height = max(1, min(rasterHeight, Int((Double(readHeight) / zoom).rounded())))
        return Crop(x: (rasterWidth - width) / 2, y: (rasterHeight - height) / 2, width: width, height: height)
    }
}
