import Glibc
import RecorderCore
import Testing

@Suite struct SoundEncoderTests {
    /// Sound like speech in a noisy room: a voice's harmonics that come and go, and noise.
    private func speech(seconds: Int, sampleRate: Int, channels: Int) -> [Int16] {
        var random = SeededRandom(UInt64(sampleRate))
        var samples: [Int16] = []
        samples.reserveCapacity(seconds * sampleRate * channels)
        var low = 0.0
        for frame in 0..<seconds * sampleRate {
            let time = Double(frame) / Double(sampleRate)
            let syllable = max(0, sin(2 * .pi * 3.1 * time)) * (0.6 + 0.4 * sin(2 * .pi * 0.37 * time))
            let pitch = 120 + 25 * sin(2 * .pi * 0.7 * time)
            var voice = 0.0
            for harmonic in 1...12 where pitch * Double(harmonic) < Double(sampleRate) / 2 {
                voice += sin(2 * .pi * pitch * Double(harmonic) * time) / Double(harmonic)
            }
            for channel in 0..<channels {
                let white = Double.random(in: -1...1, using: &random)
                low += 0.2 * (white - low)
                let value = 6000 * syllable * voice + 2500 * low + 300 * white
                samples.append(Int16(clamping: Int(value * (channel == 0 ? 1 : 0.8))))
            }
        }
        return samples
    }

    /// All packets of some pieces.
    private func packets(_ encoder: SoundEncoder, _ pieces: [SoundTimeline.Piece]) throws -> [SoundEncoder.Packet] {
        var packets: [SoundEncoder.Packet] = []
        for piece in pieces { try encoder.encode(piece) { packets.append($0) } }
        try encoder.finish { packets.append($0) }
        return packets
    }

    /// Bits a second that eight seconds of speech have on each channel, in pieces of 33 ms as a recording has them.
    private func bits(_ encoder: SoundEncoder, _ rate: Int, channels: Int = 1) throws -> Double {
        let samples = speech(seconds: 8, sampleRate: rate, channels: channels)
        let step = rate / 30 * channels
        let pieces = stride(from: 0, to: samples.count, by: step).map { at in
            let part = Array(samples[at..<min(samples.count, at + step)])
            return SoundTimeline.Piece.sound(samples: part, frames: Int64(part.count / channels))
        }
        let bits = Double(try packets(encoder, pieces).reduce(0) { $0 + $1.bytes.count }) * 8 / Double(8 * channels)
        print("\(rate) Hz, \(channels): \(Int(bits)) bit/s a channel")
        return bits
    }

    @Test(
        "Sound has 64 kbit/s a channel, within 10 %, from 16 kHz up",
        arguments: [16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000], [1, 2])
    func bitRate(_ rate: Int, _ channels: Int) throws {
        let encoder = try SoundEncoder(sourceRate: rate, channels: channels)
        let bits = try bits(encoder, rate, channels: channels)
        #expect(abs(bits / 64_000 - 1) < 0.1, "\(bits) bit/s a channel")
        #expect(encoder.sampleRate == rate && encoder.track.bitRate == Int64(64_000 * channels))
    }

    @Test("Below 16 kHz AAC at its finest has fewer bits than 64 kbit/s", arguments: [8000, 11_025, 12_000])
    func lowRates(_ rate: Int) throws {
        let encoder = try SoundEncoder(sourceRate: rate, channels: 1)
        #expect(
            encoder.track.bitRate == (rate == 8000 ? 48_000 : 64_000),
            "six bits a sample are the most that the format has")
        let bits = try bits(encoder, rate)
        #expect(bits > Double(rate) * 4 && bits < 64_000 * 1.1, "\(bits) bit/s")
    }

    @Test func aRateThatAACLacksIsTheNearestThatItHas() throws {
        #expect(SoundEncoder.streamRate(for: 48_000) == 48_000)
        #expect(SoundEncoder.streamRate(for: 50_000) == 48_000)
        #expect(SoundEncoder.streamRate(for: 37_800) == 32_000 || SoundEncoder.streamRate(for: 37_800) == 44_100)
        #expect(SoundEncoder.streamRate(for: 8_001) == 8_000)
        #expect(SoundEncoder.streamRate(for: 95_999) == 96_000)
        let encoder = try SoundEncoder(sourceRate: 50_000, channels: 1)
        // A second of it is a second of the stream.
        let packets = try packets(encoder, [.sound(samples: [Int16](repeating: 0, count: 50_000), frames: 48_000)])
        let last = try #require(packets.last)
        #expect(abs(last.time + last.duration - 1_000_000_000) < 2)
    }

    @Test func timesAreThoseOfTheFirstSampleThatPlaysAndTheEndIsTheLast() throws {
        let encoder = try SoundEncoder(sourceRate: 48_000, channels: 1)
        #expect(encoder.track.primingFrames == 1024)
        // AAC-LC, 48 kHz, one channel, in frames of 1,024 (ISO 14496-3): 00010 0011 0001 000; what follows is an extension.
        #expect(encoder.track.configuration.prefix(2) == [0x11, 0x88])
        let packets = try packets(encoder, [.silence(frames: 5000)])
        let first = try #require(packets.first)
        let last = try #require(packets.last)
        #expect(first.time == -21_333_333)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect(abs(packet.time + packet.duration - next.time) <= 1)
        }
        #expect(abs(last.time + last.duration - 104_166_666) <= 1)
    }
}
