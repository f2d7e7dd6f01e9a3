import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// Each told once as it should be and once as it should not.
@Suite("What a trace's checker finds of grants and orders")
struct ContractMonitorOrdersTests {
    private typealias Life = ContractMonitorTests.Life
    private static let (session, back, front) = (SessionID(1), CameraID("back"), CameraID("front"))

    private static func open(_ grant: UInt64, on camera: CameraID = back) -> Effect {
        .open(camera, GrantID(grant), session, Configuration())
    }

    private static func cut(_ grant: UInt64, on camera: CameraID = back) -> Effect {
        .cut(camera, GrantID(grant), why: .sessionEnded, next: nil)
    }

    /// Opens a grant, and cuts it.
    private func passes(_ grant: UInt64, on camera: CameraID = back, _ life: inout Life) -> [String] {
        let opened = life.finds(orders: [Self.open(grant, on: camera)])
        return opened + life.finds(orders: [Self.cut(grant, on: camera)])
            + life.finds(in: .recorderCut(camera, GrantID(grant)))
    }

    @Test("A grant's number is above all that were given before, on whatever camera; numbers may be left out")
    func grantsGrow() {
        var life = Life()
        #expect(passes(1, &life) == [])
        #expect(passes(1, &life) == ["grant 1 does not grow"])
        #expect(passes(1, on: Self.front, &life) == ["grant 1 does not grow"])
        #expect(passes(2, on: Self.front, &life) == [])
        #expect(passes(7, &life) == [])
        for old in 0...7 as ClosedRange<UInt64> { #expect(passes(old, &life) == ["grant \(old) does not grow"]) }
        #expect(passes(8, on: Self.front, &life) == [])
    }

    @Test("A checker that becomes another knows which grants there were")
    func becoming() {
        var (life, other) = (Life(), ContractMonitor())
        #expect(passes(5, &life) == [])
        other.become(life.checker)
        life.checker = other
        #expect(passes(5, &life) == ["grant 5 does not grow"])
        #expect(passes(6, &life) == [])
    }

    @Test("A grant that outlived a broker counts, on every camera, from the moment it is known")
    func survivors() {
        let capabilities = CameraCapabilities(
            name: "Back", position: .back, sensorWidth: 1, sensorHeight: 1, formats: [])
        var life = Life()
        #expect(life.finds(in: .cameraAppeared(Self.back, capabilities)) == [])
        let survivor = Survivor(grant: GrantID(9))
        #expect(life.finds(in: .reserved(Self.back, AppID("photos", user: 1000), survivor: survivor)) == [])
        #expect(life.checker.lastGrant(of: Self.back) == GrantID(9))
        var (unasked, other) = (life, life)
        #expect(passes(9, on: Self.front, &other) == ["grant 9 does not grow"])
        let resume = Effect.resume(Self.back, GrantID(9), Self.session, Configuration())
        #expect(
            unasked.finds(orders: [resume]) == ["back is resumed for a grant that is not reclaimed in this step"])
        other = life
        #expect(
            other.finds(in: .reclaimed(Self.session, GrantID(8)))
                == ["session 1 reclaims grant 8, which nobody kept"])
        #expect(life.finds(orders: [resume], in: .reclaimed(Self.session, GrantID(9))) == [])
        #expect(life.checker.isRunning(Self.session) && !other.checker.isRunning(Self.session))
        #expect(passes(10, on: Self.front, &life) == [])
    }

    @Test("A camera is opened once, and again when the cut is confirmed or the recorder core is gone")
    func oneGrantAtATime() {
        var life = Life()
        #expect(life.finds(orders: [Self.open(1)]) == [])
        #expect(life.finds(orders: [Self.open(2)]) == ["back is opened for a second grant"])
        var other = life
        #expect(other.finds(orders: [Self.cut(1)]) == ["back is cut for a grant that is not open"])
        #expect(life.finds(orders: [Self.cut(2)]) == [])
        #expect(life.finds(in: .recorderCut(Self.back, GrantID(1))) == [], "of a grant before, which says nothing")
        var gone = life
        #expect(life.finds(orders: [Self.open(3)]) == ["back is opened before the last grant is cut"])
        #expect(gone.finds(orders: [Self.open(3)], in: .recorderGone(Self.back)) == [])
        var killed = gone
        #expect(gone.finds(orders: [Self.cut(3)]) == [])
        #expect(gone.finds(orders: [Self.open(4)], in: .recorderCut(Self.back, GrantID(3))) == [])
        #expect(
            killed.finds(orders: [.killRecorder(Self.back), Self.open(4)])
                == ["back is opened before the last grant is cut"])
    }

    @Test("An order is for the grant that is open, and one about a recording for one that is made")
    func ordersForOpenGrants() {
        func orders(_ grant: UInt64) -> [Effect] {
            let id = GrantID(grant)
            return [
                .configure(Self.back, id, Self.session, Configuration()), .openStream(Self.back, id, Self.session),
                .closeStreams(Self.back, id, Self.session), .capturePhoto(Self.back, id, Self.session, 1),
                .attachMicrophone(
                    Self.back, id, Self.session, MicrophoneFormat(sampleRate: 48_000, channels: 1)),
                .detachMicrophone(Self.back, id), .startRecording(Self.back, id, Self.session, 1),
                .setSlate(Self.back, id, Self.session, true),
            ]
        }
        var life = Life.running()
        let unopened = "back gets an order for a grant that is not open"
        #expect(life.finds(orders: orders(1)) == [])
        for order in orders(2) { #expect(life.finds(orders: [order]) == [unopened], "\(order)") }
        let aboutRecordings: [Effect] = [
            .pauseRecording(Self.back, 1), .resumeRecording(Self.back, 1), .appendMetadata(Self.back, 1),
        ]
        for order in aboutRecordings {
            #expect(
                life.finds(orders: [order]) == ["back gets an order for recording 1, which nobody makes"], "\(order)")
        }
        life.record()
        #expect(life.finds(orders: aboutRecordings) == [])
        #expect(life.finds([.didStopRunning], orders: [Self.cut(1)]) == [])
        for order in orders(1) { #expect(life.finds(orders: [order]) == [unopened], "\(order)") }
        #expect(life.finds(orders: aboutRecordings).count == 3)
    }
}
