import ArbiterProtocol
import CLinux
import CMedia
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Testing

/// Sessions on one camera, each with a picture of its own.
@Suite(.timeLimit(.minutes(10))) struct SessionPictureTests {
    private static let large = "420v 1920x1080@30"
    private static let camera = "iphone6s-back"

    @Test("Each session's frames are of its size and rate, with the camera's numbers and times, and their marks")
    func sizesAndRates() async throws {
        let camera = try await SteppedCamera(Self.camera, Self.large)
        let test = camera.test
        let own = try await test.stream(1, session: 1)
        try await test.setPicture(2, "420v 1280x720", 15)
        let half = try await test.stream(1, session: 2)
        let narrow = try await test.stream(1, session: 3)
        try await test.setPicture(3, "420f 640x480", 20)
        let again = try await test.stream(1, session: 3)
        var numbers: [[UInt64]] = [[], [], [], []]
        let layouts = [(1920, 1080, "420v"), (1280, 720, "420v"), (640, 480, "420f"), (640, 480, "420f")]
            .map { PictureLayout(width: $0.0, height: $0.1, pixelFormat: $0.2) }
        for _ in 0..<12 {
            try await camera.step()
            for (place, stream) in [own, half, narrow, again].enumerated() {
                for (frame, mark) in try stream.marks() {
                    #expect(frame.layout == layouts[place])
                    #expect(mark?.captureTime == frame.record.timestamp)
                    #expect(mark.map { UInt64($0.frameNumber) } == frame.record.sequence)
                    numbers[place].append(frame.record.sequence)
                }
            }
        }
        #expect(numbers[0] == Array(2...13))
        #expect(numbers[1] == [2, 4, 6, 8, 10, 12])
        #expect(numbers[2] == [2, 4, 5, 7, 8, 10, 11, 13] && numbers[3] == numbers[2])
    }

    @Test("Sessions with the same picture get the same bytes of the same frames")
    func samePicture() async throws {
        let camera = try await SteppedCamera(Self.camera, Self.large)
        var streams: [FrameReceiver] = []
        for session in UInt64(1)...3 {
            try await camera.test.setPicture(session, "420v 640x480", 15)
            streams.append(try await camera.test.stream(1, session: session))
        }
        for _ in 0..<3 {
            try await camera.step(2)
            let frames = try streams.map { try $0.frame() }
            #expect(Set(frames.map(\.record.sequence)).count == 1)
            let pictures = zip(streams, frames).map { stream, frame in stream.withBytes(of: frame) { Array($0) } }
            #expect(pictures[1] == pictures[0] && pictures[2] == pictures[0])
            for (stream, frame) in zip(streams, frames) { stream.release(frame) }
        }
    }

    @Test("A picture of another shape is cut from the middle, and not stretched", arguments: ["420v", "420f"])
    func cutFromTheMiddle(_ pixelFormat: String) throws {
        let from = PictureLayout(width: 1920, height: 1080, pixelFormat: "420v")
        // White from side to side but for the middle's 1440 columns, which are grey with a black square.
        var picture = [UInt8](repeating: 235, count: from.bytes)
        for row in 0..<1080 {
            for column in 240..<1680 {
                let isSquare = abs(column - 960) < 270 && abs(row - 540) < 270
                picture[row * from.stride + column] = isSquare ? 16 : 126
            }
        }
        for place in from.lumaBytes..<from.bytes { picture[place] = 128 }
        let to = PictureLayout(width: 640, height: 480, pixelFormat: pixelFormat)
        var scaled = [UInt8](repeating: 0, count: to.bytes)
        try picture.withUnsafeBytes { bytes in
            try scaled.withUnsafeMutableBytes { try Scaler().scale(bytes, from, into: $0, to) }
        }
        let black: UInt8 = to.isFullRange ? 0 : 16
        func isBlack(_ x: Int, _ y: Int) -> Bool { abs(Int(scaled[y * to.stride + x]) - Int(black)) <= 2 }
        let wide = (0..<640).filter { isBlack($0, 240) }
        let high = (0..<480).filter { isBlack(320, $0) }
        #expect(abs(wide.count - 240) <= 2 && abs(high.count - 240) <= 2)
        #expect(abs((wide.first ?? 0) - 200) <= 1 && abs((high.first ?? 0) - 120) <= 1)
        let grey = to.isFullRange ? 128 : 126
        #expect((0..<640).allSatisfy { abs(Int(scaled[$0]) - grey) <= 3 }, "the white sides are gone")
        #expect((to.lumaBytes..<to.bytes).allSatisfy { abs(Int(scaled[$0]) - 128) <= 1 })
    }

    @Test("Every size is cut from every other inside it, with the same middle and shape")
    func middles() {
        let sizes = [
            (192, 144), (352, 288), (640, 480), (960, 540), (1280, 720), (1920, 1080), (3264, 2448), (4032, 2268),
        ]
        let layouts = sizes.map { PictureLayout(width: $0.0, height: $0.1, pixelFormat: "420v") }
        for from in layouts {
            for to in layouts {
                let crop = SensorWindow.Crop.middle(of: from, shapedAs: to)
                #expect(crop.x >= 0 && crop.x + crop.width <= from.width)
                #expect(crop.y >= 0 && crop.y + crop.height <= from.height)
                #expect(abs(2 * crop.x + crop.width - from.width) <= 2)
                #expect(abs(2 * crop.y + crop.height - from.height) <= 2)
                let isWhole = crop.width >= from.width - 2 || crop.height >= from.height - 2
                #expect(isWhole, "\(crop) of \(from)")
                // Even sides cost two pixels at most.
                #expect(abs(crop.width * to.height - crop.height * to.width) <= 2 * max(to.width, to.height))
            }
        }
    }

    @Test("An object's box is where the object lies in a picture that is cut from the middle")
    func objects() throws {
        let whole = PictureLayout(width: 1920, height: 1080, pixelFormat: "420v")
        let narrow = PictureLayout(width: 640, height: 480, pixelFormat: "420v")
        let middle = SensorWindow.Crop.middle(of: whole, shapedAs: narrow)
        // 1440 columns from 240 on.
        for (left, width, shown) in [
            (0.4, 0.2, (528.0, 384.0)), (0.1, 0.1, (0, 144)), (0.8, 0.2, (1296, 144)), (0, 0.125, nil),
            (0, 1, (0, 1440)),
        ] as [(Double, Double, (Double, Double)?)] {
            let box = DetectedObject.Box(x: left, y: 0.25, width: width, height: 0.5)
            let seen = DetectedObject(type: "face", id: 7, box: box).inside(middle, of: whole)
            #expect((seen == nil) == (shown == nil))
            guard let seen, let shown else { continue }
            #expect(abs(seen.box.x * 1440 - shown.0) < 1e-6 && abs(seen.box.width * 1440 - shown.1) < 1e-6)
            #expect(abs(seen.box.y - 0.25) < 1e-9 && abs(seen.box.height - 0.5) < 1e-9 && seen.id == 7)
        }
    }

    @Test("A picture that changes under an open stream renews its buffers, and the next frame is flagged, once")
    func changes() async throws {
        let camera = try await SteppedCamera(Self.camera, Self.large)
        let test = camera.test
        let (own, other) = (try await test.stream(1, session: 1), try await test.stream(1, session: 2))
        try await camera.step()
        _ = (try own.marks(), try other.marks())
        func seen(_ stream: FrameReceiver) throws -> [String] {
            try stream.marks().map { frame, _ in
                let flag = frame.record.flags.contains(.configurationChanged) ? " changed" : ""
                return "\(frame.layout.width)x\(frame.layout.height)\(flag)"
            }
        }
        func steps(_ count: Int) async throws -> (own: [String], other: [String]) {
            var all: (own: [String], other: [String]) = ([], [])
            for _ in 0..<count {
                try await camera.step()
                all.own += try seen(own)
                all.other += try seen(other)
            }
            return all
        }
        try await test.setPicture(2, "420v 640x480")
        #expect(try await steps(2) == (["1920x1080", "1920x1080"], ["640x480 changed", "640x480"]))
        // Only streams that follow the camera have other buffers when its format changes, which may cost it a few frames.
        try await test.configure(1, Configuration([.activeFormat: .text("420v 1280x720@30"), .frameRate: .number(30)]))
        let changed = try await steps(60)
        #expect(changed.own.first == "1280x720 changed" && Set(changed.own.dropFirst()) == ["1280x720"])
        #expect(changed.other.first == "640x480 changed" && Set(changed.other.dropFirst()) == ["640x480"])
        try await test.setPicture(2, "420v 640x480", 10)
        let slow = try await steps(7)
        #expect(slow.own.count == 7 && slow.other == ["640x480 changed", "640x480", "640x480"])
        // The flag waits for a frame that is not left out.
        try await test.configure(1, Configuration([.videoZoomFactor: .number(1.5)]))
        #expect(try await steps(2) == (["1280x720 changed", "1280x720"], []))
        #expect(try await steps(1) == (["1280x720"], ["640x480 changed"]))
        try await test.setPicture(2, nil)
        #expect(try await steps(2).other == ["1280x720 changed", "1280x720"])
    }

    @Test("What is no picture is refused with a sentence, and the session's picture stays")
    func refusals() async throws {
        let camera = try await SteppedCamera(Self.camera, Self.large)
        let test = camera.test
        try await test.setPicture(2, "420v 640x480")
        let stream = try await test.stream(1, session: 2)
        let format = ConfigurationValue.text("420v 640x480")
        for (picture, words) in [
            ([.activeFormat: .text("420v 641x480"), .frameRate: .number(30)], "420v 641x480"),
            ([.activeFormat: format], "frameRate"), ([.frameRate: .number(30)], "activeFormat"),
            ([.activeFormat: format, .frameRate: .number(0)], "frameRate"),
            ([.activeFormat: format, .frameRate: .number(.infinity)], "frameRate"),
            ([.activeFormat: format, .frameRate: .number(30), .videoZoomFactor: .number(2)], "videoZoomFactor"),
        ] as [([ConfigurationKey: ConfigurationValue], String)] {
            let refused = await refusal { try await test.setPicture(2, Configuration(picture)) }
            #expect(refused?.kind == .unsupportedConfiguration, "\(picture)")
            #expect(refused?.message.contains(words) == true && refused?.message.hasSuffix("Nothing changed.") == true)
        }
        #expect(await refusal { try await test.setPicture(2, "420v 640x480", grant: 2) }?.kind == .staleGrant)
        try await camera.step()
        let seen = try stream.marks()
        #expect(seen.map(\.frame.layout.width) == [640] && seen.first?.frame.record.flags == [])
    }

    @Test("A session that returns no frame misses its own, and no other session's")
    func slowReader() async throws {
        let camera = try await SteppedCamera(Self.camera, Self.large)
        let test = camera.test
        let own = try await test.stream(1, session: 1)
        try await test.setPicture(2, "420v 640x480")
        try await test.setPicture(3, "420v 640x480")
        let slow = try await test.stream(1, session: 2)
        let quick = try await test.stream(1, session: 3)
        var (seen, quickly): ([UInt64], [UInt64]) = ([], [])
        for _ in 0..<12 {
            try await camera.step()
            seen += try own.marks().map(\.frame.record.sequence)
            quickly += try quick.marks().map(\.frame.record.sequence)
        }
        #expect(seen == Array(2...13) && quickly == seen)
        var kept = 0
        while case .frame = try slow.next(within: .zero) { kept += 1 }
        #expect(kept == FrameSender.unreadMax)
    }

    @Test("A photo is of its session's picture")
    func photos() async throws {
        let test = try CaptureUnderTest("simulated:iphone6s-back")
        try await test.open(1, Configuration([.activeFormat: .text(Self.large)]))
        try await test.setPicture(2, "420v 640x480", 15)
        for (session, size) in [(1, (1920, 1080)), (2, (640, 480))] as [(UInt64, (Int, Int))] {
            let file = try TemporaryFile(".jpg")
            try await test.photo(1, session, try file.open(), session: session)
            let photo = try await test.photoCaptured()
            #expect(photo.error == nil && photo.metadata?.videoZoomFactor == 1)
            #expect((Int(photo.width), Int(photo.height)) == size)
            let decoded = try DecodedVideo(file.path)
            #expect((decoded.width, decoded.height) == size && decoded.numbers.compactMap(\.self).count == 1)
        }
        // With light of its own it is drawn anew, and scaled then.
        try await test.configure(1, Configuration([.flashMode: .text("on")]))
        let lit = try TemporaryFile(".jpg")
        try await test.photo(1, 3, try lit.open(), session: 2)
        let photo = try await test.photoCaptured()
        #expect(photo.width == 640 && photo.height == 480 && photo.metadata?.flashFired == true)
        #expect(try DecodedVideo(lit.path).numbers.compactMap(\.self).count == 1)
    }

    @Test(
        "A larger still is that of the session's own format, cut from the camera's and never enlarged",
        arguments: [
            ("420v 2592x1936@30", nil, (4032, 3012)), ("420v 2592x1936@30", "420v 1920x1080@30", (4032, 2268)),
            // Formats that have no larger still.
            ("420v 2592x1936@30", "420v 640x480@60 binned", (640, 480)),
            ("420v 1920x1080@120 binned", nil, (1920, 1080)),
            // The camera's stills are smaller than 4032x3024 and 4032x2268: as much of them as has the session's shape.
            ("420v 2592x1936@30", "420v 640x480@30", (4016, 3012)),
            ("420v 1920x1080@30", "420f 640x480@30", (3024, 2268)),
            ("420v 1920x1080@120 binned", "420v 1280x720@30", (1920, 1080)),
            ("420v 1920x1080@120 binned", "420v 640x480@30", (1440, 1080)),
        ] as [(String, String?, (Int, Int))])
    func largerStills(_ format: String, _ picture: String?, _ size: (Int, Int)) async throws {
        let test = try CaptureUnderTest("simulated:iphone6s-back")
        try await test.open(
            1,
            Configuration([.activeFormat: .text(format), .highResolutionStillImageOutputEnabled: .flag(true)]))
        if let picture { try await test.setPicture(2, picture) }
        let file = try TemporaryFile(".jpg")
        try await test.photo(1, 1, try file.open(), session: 2)
        let photo = try await test.photoCaptured()
        #expect(photo.error == nil && (Int(photo.width), Int(photo.height)) == size)
        let decoded = try DecodedVideo(file.path)
        #expect((decoded.width, decoded.height) == size && decoded.numbers.compactMap(\.self).count == 1)
    }

    @Test("A session that gets a picture gives the device's own buffers back, and one with the camera's has them")
    func lentBuffers() async throws {
        let camera = ScriptedCamera(formats: [camarb_fourcc_nv12: [(640, 480, 1000), (320, 240, 1000)]])
        camera.change { $0.lends = true }
        let test = CaptureUnderTest(camera)
        try await test.open(1, Configuration([.activeFormat: .text("420v 640x480")]))
        try await test.setPicture(1, "420v 320x240", 1000)
        let scaled = try await test.stream(1, session: 1)
        #expect(camera.look(\.lent) == 0)
        try await test.setPicture(2, "420v 640x480", 1000)
        let lent = try await test.stream(1, session: 2)
        let count = camera.look(\.lent)
        #expect(count > 0)
        let starts = camera.look(\.starts)
        try await test.setPicture(2, "420v 640x480", 10)
        #expect(camera.look(\.starts) == starts + 1, "the device goes on in buffers that the client does not have")
        let small = try scaled.frame()
        #expect(small.layout.width == 320)
        scaled.withBytes(of: small) { bytes in #expect(bytes.prefix(320).allSatisfy { $0 == 100 }) }
        withExtendedLifetime(lent) {}
    }
}
