/// How a recording's pictures are encoded.
package enum VideoCodec: String, Hashable, Sendable, CaseIterable {
    case h264
    case mjpeg
}
