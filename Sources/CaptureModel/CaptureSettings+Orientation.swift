package import Vocabulary

extension CaptureSettings {
    /// How the pixels that a camera gives under these settings have to be turned to be seen upright, and left for right where
    /// they are mirrored: what photos and recordings say of themselves.
    ///
    /// A camera that cannot be told how it is held has its picture as it lies.
    package func exifOrientation(of position: CameraPosition) -> ExifOrientation {
        guard case .text(let word)? = value(.videoOrientation), let orientation = VideoOrientation(rawValue: word)
        else { return .up }
        let isMirrored = value(.videoMirrored) == .flag(true)
        let seen = ExifOrientation(orientation, isMirrored: isMirrored, of: position)
        // The camera has exchanged the pixels themselves.
        return isMirrored ? seen.ofMirroredPixels : seen
    }
}
