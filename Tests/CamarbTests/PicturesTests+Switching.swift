import ArbiterProtocol
import Camarb
import FrameStream
import Testing

extension PicturesTests {
    @Test(
        "Over a switch of cameras the pictures simply go on, with those of the other camera, whatever is said to be reopened"
    )
    func picturesGoOnFromAnotherCamera() async throws {
        let (first, firstEnd) = try FrameSender.open(layout: Self.layout)
        let (second, secondEnd) = try FrameSender.open(layout: Self.layout)
        let transport = broker(.success(firstEnd), .success(secondEnd))
        let client = CameraClient(over: transport)
        let session = try await client.makeSession(camera: "back")
        transport.send(.didStartRunning(grant: GrantID(1)), sequence: 1)
        var pictures = session.pictures.makeAsyncIterator()
        send(1, as: 1, on: first)
        #expect(try await pictures.next()?.grant == GrantID(1))
        try await session.configure(Configuration([.camera: .text("front")]))
        first.close()
        transport.send(.didStopRunning, sequence: 2)
        transport.send(.didStartRunning(grant: GrantID(2)), sequence: 3)
        transport.send(.connectionsFormed(camera: CameraID("front"), reopen: [.preview]), sequence: 4)
        send(9, as: 1, on: second)
        #expect(try await pictures.next()?.grant == GrantID(2))
        #expect(transport.callsSoFar.count { $0.member == "OpenStream" } == 2)
        try await session.close()
    }
}
