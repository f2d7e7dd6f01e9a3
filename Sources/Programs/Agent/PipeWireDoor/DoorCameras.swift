import ArbiterProtocol
import Camarb
import System

/// Which cameras the broker has, followed on a connection of its own.
final class DoorCameras {
    private enum News: Sendable {
        case cameras([DoorCamera])
        case ended
    }

    /// With the number of its connection: that of an earlier one is nobody's.
    private typealias Letter = (connection: Int, news: News)

    /// One connection, until it ends.
    private struct Following: Sendable {
        var number: Int
        var address: String?
        var mailbox: LoopQueue<Letter>

        func run() async {
            do throws(BrokerError) { try await follow() } catch {}
            mailbox.post((number, .ended))
        }

        private func follow() async throws(BrokerError) {
            let client = try CameraClient.connect(address: address, reconnects: false)
            // First of all, so that no change is missed.
            let notices = client.brokerNotices
            mailbox.post((number, .cameras(try await list(client))))
            for await notice in notices {
                guard case .camerasChanged = notice else { continue }
                mailbox.post((number, .cameras(try await list(client))))
            }
        }

        private func list(_ client: CameraClient) async throws(BrokerError) -> [DoorCamera] {
            var cameras: [DoorCamera] = []
            for status in try await client.status().cameras {
                do throws(BrokerError) {
                    let described = try await client.camera(status.camera)
                    cameras.append(
                        DoorCamera(
                            id: described.camera, name: described.name, position: described.position,
                            formats: described.formats, isPresent: described.isPresent))
                } catch {
                    // One that has gone meanwhile; the next notice says so.
                    if error.isOfTheConnection { throw error }
                }
            }
            return cameras
        }
    }

    /// What the broker had when it was last reached: a broker that is restarted takes no camera away.
    private(set) var cameras: [DoorCamera] = []

    private let address: String?
    private let onChange: () -> Void
    private let mailbox = LoopQueue<Letter>()
    private var retry: Timer?
    private var backOff = BackOff.broker
    private var connection = 0

    init(on loop: EventLoop, address: String?, onChange: @escaping () -> Void) throws(SystemFault) {
        self.address = address
        self.onChange = onChange
        mailbox.setWakeup(try loop.addWakeup { [unowned self] in takeNews() })
        retry = try loop.addTimer { [unowned self] in connect() }
    }

    func connect() {
        connection += 1
        let following = Following(number: connection, address: address, mailbox: mailbox)
        Task.detached { await following.run() }
    }

    private func takeNews() {
        for (number, news) in mailbox.take() where number == connection {
            switch news {
            case .cameras(let now):
                backOff.reset()
                guard now != cameras else { continue }
                cameras = now
                onChange()
            case .ended: retry?.arm(at: EventLoop.now + backOff.wait().nanoseconds)
            }
        }
    }
}
