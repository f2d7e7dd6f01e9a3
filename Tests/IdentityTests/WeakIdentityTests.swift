import BusTesting
import CLinux
import Glibc
import System
import Testing

/// The facts about a peer where the kernel gives its number only.
@Suite("A peer that is known by its number")
struct WeakIdentityTests {
    private let facts = ProcessFacts(user: 1000, began: 5_000_000_000, controlGroup: "/system.slice/x.service")

    @Test("Another user's process, or one that began after the connection, did not connect")
    func otherProcesses() {
        #expect(WeakIdentity.mayHaveConnected(facts, as: 1000, by: 5_000_000_000))
        #expect(WeakIdentity.mayHaveConnected(facts, as: 1000, by: 9_000_000_000))
        #expect(!WeakIdentity.mayHaveConnected(facts, as: 0, by: 9_000_000_000))
        #expect(!WeakIdentity.mayHaveConnected(facts, as: 1000, by: 4_999_999_999))
    }

    @Test("It is the same for as long as user, beginning and control group are, and gone when they cannot be read")
    func holding() {
        let weak = WeakIdentity(facts)
        #expect(weak.holds(facts))
        #expect(!weak.holds(nil))
        for change in [
            { $0.user = 0 }, { $0.began += 10_000_000 }, { $0.controlGroup = "/system.slice/evacuation.service" },
        ] as [(inout ProcessFacts) -> Void] {
            var other = facts
            change(&other)
            #expect(!weak.holds(other))
        }
    }

    @Test("The kernel names a socket's peer; a live process is what it was, and one that has ended is not")
    func live() throws {
        let (ours, theirs) = try socketPair()
        defer { for end in [ours, theirs] { close(end) } }
        let named = try PeerCredentials(ofSocket: ours)
        #expect(named.pid == getpid() && named.uid == getuid() && named.process.isAlive)
        #expect(AppIdentity.controlGroup(named.pid) != nil && named.weak == nil)
        let peer = try PeerCredentials(ofSocket: ours, byNumber: true)
        let weak = try #require(peer.weak)
        #expect(peer.pid == getpid() && weak.holds(of: peer.pid, peer.process))
        let own = try #require(ProcessFacts(of: getpid()))
        #expect(own.user == geteuid() && own.began > 0 && own.began <= camarb_boottime_ns())

        let loop = try EventLoop()
        var isOver = false
        let child = try ChildProcess.idle(on: loop) { _ in isOver = true }
        let ofChild = WeakIdentity(try #require(ProcessFacts(of: child.pid)))
        #expect(ofChild.holds(of: child.pid, child.handle))
        child.signal(SIGKILL)
        try loop.turn(until: { isOver })
        #expect(!ofChild.holds(of: child.pid, child.handle))
    }

    @Test("A pidfd says which process it names, and no other descriptor does")
    func pidfds() throws {
        let own = try ProcessHandle.descriptorOfThisProcess()
        #expect(ProcessHandle.process(behind: own) == getpid())
        close(own)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(ProcessHandle.process(behind: file) == nil)
        #expect(ProcessHandle.process(behind: -1) == nil)
    }
}
