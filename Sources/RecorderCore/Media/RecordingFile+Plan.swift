package import ArbiterProtocol
import CLibav
package import FrameStream

extension RecordingFile {
    /// What a recording's file will hold.
    package struct Plan {
        package var layout: PictureLayout
        /// Pictures a second.
        package var frameRate: Double
        package var fileType: RecordingFileType
        /// Nil: H.264 where the machine keeps up with it, else JPEGs.
        package var codec: VideoCodec?
        /// Bits a second of the picture; nil: as published for its size.
        package var bitRate: Int64?
        /// Nil: no sound.
        package var sound: SoundTrack?
        /// Kinds of metadata, each of which gets a track of text with that title; at most `metadataMax`.
        package var metadata: [String]
        /// As Exif numbers it, 1...8; nil: the file does not say.
        package var orientation: Int?

        package init(
            layout: PictureLayout, frameRate: Double, fileType: RecordingFileType = .matroska, codec: VideoCodec? = nil,
            bitRate: Int64? = nil,
            sound: SoundTrack? = nil, metadata: [String] = [], orientation: Int? = nil
        ) {
            self.layout = layout
            self.frameRate = frameRate
            self.fileType = fileType
            self.codec = codec
            self.bitRate = bitRate
            self.sound = sound
            self.metadata = metadata
            self.orientation = orientation
        }
    }

    /// A track of AAC.
    package struct SoundTrack {
        package var sampleRate: Int32
        package var channels: Int32
        /// The AudioSpecificConfig that the encoder gave.
        package var configuration: [UInt8]
        /// Samples that the encoder puts in front of the first.
        package var primingFrames: Int
        /// Bits a second, of all channels.
        package var bitRate: Int64

        package init(
            sampleRate: Int32, channels: Int32, configuration: [UInt8], primingFrames: Int, bitRate: Int64
        ) {
            self.sampleRate = sampleRate
            self.channels = channels
            self.configuration = configuration
            self.primingFrames = primingFrames
            self.bitRate = bitRate
        }

        /// Of AAC of low complexity.
        private static let samplesPerPacket: Int32 = 1024

        /// How many samples of a packet do not play, where it plays for less than it holds; nil: it plays whole.
        /// - Parameter duration: in nanoseconds.
        func samplesLeftOver(of duration: Int64) -> UInt32? {
            let playing = (Double(duration) * Double(sampleRate) / 1e9).rounded()
            let left = Double(Self.samplesPerPacket) - playing
            return left >= 1 ? UInt32(left) : nil
        }

        func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) {
            parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.pointee.codec_id = AV_CODEC_ID_AAC
            parameters.pointee.profile = FF_PROFILE_AAC_LOW
            parameters.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
            parameters.pointee.sample_rate = sampleRate
            parameters.pointee.frame_size = Self.samplesPerPacket
            parameters.pointee.initial_padding = Int32(primingFrames)
            parameters.pointee.bit_rate = bitRate
            av_channel_layout_default(&parameters.pointee.ch_layout, channels)
            // libav frees it with the parameters, and reads a little past its end.
            let room = av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
            let extra = try allocated("describing sound", room)
            configuration.withUnsafeBytes {
                if let start = $0.baseAddress { extra.copyMemory(from: start, byteCount: $0.count) }
            }
            parameters.pointee.extradata = extra.assumingMemoryBound(to: UInt8.self)
            parameters.pointee.extradata_size = Int32(configuration.count)
        }
    }
}
