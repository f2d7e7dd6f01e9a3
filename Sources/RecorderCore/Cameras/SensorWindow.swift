/// The part of a sensor that a format reads, and what a zoom leaves of it: a crop around the middle.
///
/// Up to the upscale threshold the crop has at least as many pixels as the picture, so nothing is lost.
package struct SensorWindow: Hashable {
    /// Pixels of the whole raster, and of the part read at zoom 1.
    var rasterWidth: Int
    var rasterHeight: Int
    var readWidth: Int
    var readHeight: Int

    package init(rasterWidth: Int, rasterHeight: Int, readWidth: Int, readHeight: Int) {
        self.rasterWidth = rasterWidth
        self.rasterHeight = rasterHeight
        self.readWidth = readWidth
        self.readHeight = readHeight
    }

    package struct Crop: Hashable {
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
    }

    /// - Parameter zoom: from 1.
    package func crop(zoom: Double) -> Crop {
        let width = max(1, min(rasterWidth, Int((Double(readWidth) / zoom).rounded())))
        let height = max(1, min(rasterHeight, Int((Double(readHeight) / zoom).rounded())))
        return centred(width: width, height: height)
    }

    /// The same for a picture of so many pixels. A crop that is larger by less than a hundredth is made as large as the
    /// picture: thresholds are published rounded, so that 2.18 leaves 1281 pixels for 1280, and to lose that one a scaler
    /// would blur all.
    package func crop(zoom: Double, width: Int, height: Int) -> Crop {
        let crop = crop(zoom: zoom)
        guard crop.width >= width, crop.height >= height, crop.width * 100 < width * 101,
            crop.height * 100 < height * 101
        else { return crop }
        return centred(width: width, height: height)
    }

    private func centred(width: Int, height: Int) -> Crop {
        Crop(x: (rasterWidth - width) / 2, y: (rasterHeight - height) / 2, width: width, height: height)
    }
}
