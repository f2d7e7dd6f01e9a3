import Agent
import ArbiterProtocol
import Camarb
import Testing

@Suite("The course of a session behind the door in PipeWire")
struct DoorCourseTests {
    /// By reference, so that an expectation can step it.
    private final class Course {
        private var value = DoorCourse()
        var isLate: Bool {
            get { value.isLate }
            set { value.isLate = newValue }
        }
        var asked: DoorWish? { value.asked }
        var wantsStream: Bool { value.wantsStream }

        func opened() -> Int { value.opened() }
        func streamEnded(_ number: Int) -> Bool { value.streamEnded(number) }
        func isToStart(for wish: DoorWish) -> Bool { value.isToStart(for: wish) }
        func goesOn(with wish: DoorWish) -> DoorSlate? { value.goesOn(with: wish) }
        func stopped() { value.stopped() }
        func take(_ event: SessionEvent) -> [DoorSlate] { value.take(event).map { [$0] } ?? [] }
    }

    private static let format = DoorFormat(width: 640, height: 480, rate: 30)

    private func wish(_ round: Int, _ format: DoorFormat = format) -> DoorWish {
        DoorWish(format: format, round: round)
    }

    /// It was asked for, runs, and wants a stream.
    private func running() -> Course {
        let course = Course()
        _ = course.goesOn(with: wish(0))
        _ = course.take(.didStartRunning(GrantID(1)))
        return course
    }

    /// And has one.
    private func streaming() -> Course {
        let course = running()
        _ = course.opened()
        return course
    }

    private func interruption(_ causes: Cause..., by interrupter: Interrupter? = nil) -> Interruption {
        Interruption(id: 1, causes: CauseSet(causes), interrupter: interrupter, rule: "a rule")
    }

    private func access(_ access: Access, _ causes: Cause...) -> SessionEvent {
        .accessChanged(AccessChange(access, causes: CauseSet(causes), rule: "a rule"))
    }

    private let inUse = DoorSlate(
        kind: .interrupted, reason: "video-device-in-use-by-another-client", interrupter: "cheese")
    private var wasInterrupted: SessionEvent {
        .wasInterrupted(interruption(.videoDeviceInUseByAnotherClient, by: .app("cheese")))
    }
    private func interruptionEnded(willResume: Bool = true) -> SessionEvent {
        .interruptionEnded(InterruptionEnd(id: 1, causes: CauseSet(), duration: .seconds(1), willResume: willResume))
    }
    private var sessionStopped: SessionEvent { .sessionStopped(SessionStop(.evicted, rule: "a rule")) }

    @Test("It wants a stream when it was asked for and runs, and not before both")
    func both() {
        let started = Course()
        _ = started.take(.didStartRunning(GrantID(1)))
        #expect(!started.wantsStream)
        let asked = Course()
        #expect(asked.goesOn(with: wish(0)) == nil && !asked.wantsStream)
        #expect(asked.take(.didStartRunning(GrantID(1))) == [] && asked.wantsStream)
    }

    @Test("It has one stream at a time; behind one that ended by itself another comes later, with a new grant at once")
    func numbers() {
        let course = running()
        #expect(course.opened() == 1)
        #expect(!course.wantsStream)
        #expect(course.streamEnded(1))
        #expect(course.isLate && !course.wantsStream)
        course.isLate = false
        #expect(course.wantsStream)
        #expect(course.opened() == 2)
        #expect(!course.wantsStream)
        #expect(course.streamEnded(2))
        _ = course.take(.didStartRunning(GrantID(2)))
        #expect(course.wantsStream)
    }

    @Test("The end of a stream that is not the present one changes nothing")
    func oldEnd() {
        let course = running()
        #expect(!course.streamEnded(0))
        _ = course.opened()
        _ = course.take(.didStartRunning(GrantID(2)))
        #expect(!course.streamEnded(1), "it went with its grant")
        #expect(course.wantsStream && !course.isLate)
        #expect(course.opened() == 2)
        #expect(!course.streamEnded(1))
        #expect(!course.wantsStream && !course.isLate)
        #expect(course.streamEnded(2))
        #expect(!course.streamEnded(2), "it has ended")
    }

    @Test("Whatever ends the pictures takes the stream with it, and the next one comes when they begin again")
    func cuts() {
        for cut in [
            wasInterrupted, .didStopRunning, sessionStopped, access([.photo], .sensitiveContentMitigationActivated),
        ] {
            let course = streaming()
            _ = course.take(cut)
            #expect(!course.wantsStream, "\(cut)")
            #expect(!course.streamEnded(1), "\(cut)")
            _ = course.take(.didStartRunning(GrantID(2)))
            #expect(course.wantsStream, "\(cut)")
            #expect(course.opened() == 2)
        }
    }

    @Test("A session that is stopped wants no stream, and begins anew with the next wish")
    func stopped() {
        let course = streaming()
        course.stopped()
        #expect(course.asked == nil)
        #expect(!course.wantsStream && !course.streamEnded(1))
        #expect(course.isToStart(for: wish(1)))
        #expect(course.goesOn(with: wish(1)) == nil)
        #expect(!course.wantsStream, "it does not run yet")
        _ = course.take(.didStartRunning(GrantID(2)))
        #expect(course.wantsStream)
    }

    @Test(
        "It is started once: another format, or a pause that nobody noticed, starts a session that runs no second time")
    func startsOnce() {
        let course = Course()
        #expect(course.isToStart(for: wish(0)))
        _ = course.goesOn(with: wish(0))
        for next in [wish(0), wish(0, DoorFormat(width: 320, height: 240, rate: 15)), wish(1)] {
            #expect(!course.isToStart(for: next))
            #expect(course.goesOn(with: next) == nil)
            #expect(course.asked == next)
            _ = course.take(.didStartRunning(GrantID(1)))
        }
    }

    @Test("Another format leaves the stream; a pause that nobody noticed took it, and there is another at once")
    func rounds() {
        let course = streaming()
        #expect(course.goesOn(with: wish(0, DoorFormat(width: 320, height: 240, rate: 15))) == nil)
        #expect(!course.wantsStream)
        #expect(course.goesOn(with: wish(1)) == nil)
        #expect(course.wantsStream)
        #expect(!course.streamEnded(1))
        #expect(course.opened() == 2)
    }

    @Test("What was stopped for good is started by a program that pauses and goes on, and by nothing else")
    func stoppedForGood() {
        let course = running()
        #expect(course.take(sessionStopped) == [DoorSlate(kind: .noAccess, reason: "evicted")])
        #expect(!course.isToStart(for: wish(0)))
        #expect(!course.isToStart(for: wish(0, DoorFormat(width: 320, height: 240, rate: 15))))
        #expect(course.isToStart(for: wish(1)))
        #expect(course.goesOn(with: wish(1)) == nil, "it has been started, and waits")
        #expect(!course.isToStart(for: wish(1)))
        #expect(!course.isToStart(for: wish(2)), "it was stopped once")
        #expect(course.goesOn(with: wish(2)) == .waiting, "what stopped it is over")
    }

    @Test("A program that paused and went on unnoticed during an interruption sees its slate again")
    func unnoticedPause() {
        let course = running()
        #expect(course.take(wasInterrupted) == [inUse])
        #expect(course.goesOn(with: wish(0, DoorFormat(width: 320, height: 240, rate: 15))) == nil, "it still sees it")
        #expect(course.goesOn(with: wish(1)) == inUse)
        #expect(course.goesOn(with: wish(1)) == nil, "once")
        #expect(course.take(interruptionEnded()) == [], "the next picture replaces it")
        #expect(course.goesOn(with: wish(2)) == .waiting)
        _ = course.take(.didStartRunning(GrantID(2)))
        #expect(course.goesOn(with: wish(3)) == nil, "its pictures come")
    }

    @Test("Each event that changes what is to be seen has its slate, and no other has one")
    func slates() {
        func slate(_ kind: DoorSlate.Kind, _ reason: String = "", by interrupter: String = "") -> [DoorSlate] {
            [DoorSlate(kind: kind, reason: reason, interrupter: interrupter)]
        }
        let (busy, privacy) = ("video-device-in-use-by-another-client", "video-device-blocked-by-privacy")
        let events: [(SessionEvent, [DoorSlate])] = [
            (wasInterrupted, [inUse]), (.wasInterrupted(interruption()), slate(.interrupted)),
            (
                .interruptionChanged(interruption(.videoDeviceInUseByAnotherClient, by: .anotherUsersApp)),
                slate(.interrupted, busy, by: "another user's app")
            ),
            (.wasInterrupted(interruption(.videoDeviceBlockedByPrivacy)), slate(.switchedOff, privacy)),
            (
                .wasInterrupted(interruption(.videoDeviceDisconnected, .videoDeviceBlockedByPrivacy)),
                slate(.interrupted, "video-device-disconnected")
            ),
            (interruptionEnded(), []),
            (sessionStopped, slate(.noAccess, "evicted")),
            (
                access([.photo], .sensitiveContentMitigationActivated),
                slate(.interrupted, "sensitive-content-mitigation-activated")
            ),
            (access([.preview]), []), (.didStartRunning(GrantID(1)), []), (.didStopRunning, []),
            (.sharersChanged([]), []), (.interruptionWithdrawn(1), []),
            (.runtimeError(code: "device-fault", message: "a sentence"), []),
        ]
        for (event, expected) in events {
            let course = running()
            #expect(course.take(event) == expected, "\(event)")
        }
        let interrupted = running()
        _ = interrupted.take(wasInterrupted)
        #expect(interrupted.take(interruptionEnded(willResume: false)) == [.waiting])
        #expect([DoorSlate(BrokerError(.disconnected, "The broker ended."))] == slate(.noBroker))
        #expect([DoorSlate(BrokerError(.notTrusted, "A sentence."))] == slate(.noAccess, "A sentence."))
    }

    @Test("A program that may look again sees that it waits, once, and has a stream at once")
    func accessReturns() {
        let course = streaming()
        let lost = DoorSlate(kind: .interrupted, reason: "sensitive-content-mitigation-activated")
        #expect(course.take(access(.none, .sensitiveContentMitigationActivated)) == [lost])
        #expect(course.goesOn(with: wish(1)) == lost, "it paused and went on unnoticed, and nothing is to be seen yet")
        #expect(!course.wantsStream)
        #expect(course.take(access([.preview])) == [.waiting])
        #expect(course.wantsStream)
        #expect(course.opened() == 2)
        #expect(course.take(access(.all)) == [])
        #expect(!course.wantsStream)
    }
}
