package import ArbiterProtocol
package import CPipeWire
import Camarb
import System

final class DoorCameras {
    private enum News: Sendable {
        case cameras([DoorCamera])
        case ended
    }

    /// With the number of its connection: news of an earlier one are dropped.
    private typealias Letter = (connection: Int, news: News)

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
                    // The camera has gone meanwhile; the next notice reports it.
                    if error.isOfTheConnection { throw error }
                }
            }
            return cameras
        }
    }

    /// The broker's last cameras: a restart of the broker takes no camera away.
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

package struct DoorCamera: Equatable, Sendable {
    var id: CameraID
    var name: String
    var formats: [CameraFormat]
    var isPresent: Bool
    var position: CameraPosition

    package init(id: CameraID, name: String, position: CameraPosition, formats: [CameraFormat], isPresent: Bool) {
        (self.id, self.name, self.position, self.formats) = (id, name, position, formats)
        self.isPresent = isPresent
    }

    /// The first size of a camera: calls use it, and no browser asks for less than it can show.
    private static let usual = (width: 1280, height: 720)
    /// Larger pictures are not copied: four buffers of each are a stream's.
    private static let pixelsMax = 1920 * 1088

    package var sizes: [camarb_door_size] {
        var sizes: [camarb_door_size] = []
        for format in formats {
            // Rows of all formats then lie as programs without strides expect them.
            guard format.width % 8 == 0, format.height % 2 == 0, format.width >= 64, format.height >= 48,
                format.width * format.height <= Self.pixelsMax, format.maxFrameRate >= 1
            else { continue }
            let rate = min(format.maxFrameRate, 240)
            if let place = sizes.firstIndex(where: {
                Int($0.width) == format.width && Int($0.height) == format.height
            }) {
                sizes[place].rate_max = max(sizes[place].rate_max, rate)
            } else {
                sizes.append(
                    camarb_door_size(width: UInt32(format.width), height: UInt32(format.height), rate_max: rate))
            }
        }
        func distance(_ size: camarb_door_size) -> Int {
            abs(Int(size.width) - Self.usual.width) + abs(Int(size.height) - Self.usual.height)
        }
        let ordered = sizes.enumerated().sorted {
            (distance($0.element), $0.offset) < (distance($1.element), $1.offset)
        }
        return ordered.map(\.element)
    }

    /// The session's configuration for frames of this size, and not faster than the consumer takes them.
    package func configuration(for format: DoorFormat) -> Configuration {
        let fitting = formats.filter { $0.width == format.width && $0.height == format.height }
        // As brokers give rates: 30000/1001 is 29.97.
        let rate = (format.rate * 100).rounded() / 100
        // The slowest that is fast enough: a sensor's fast formats are dark, and cut.
        let chosen =
            fitting.filter { $0.maxFrameRate >= rate }
            .min { ($0.isBinned ? 1 : 0, $0.maxFrameRate) < ($1.isBinned ? 1 : 0, $1.maxFrameRate) }
            ?? fitting.max { $0.maxFrameRate < $1.maxFrameRate }
        guard let chosen else { return Configuration() }
        var configuration = Configuration()
        configuration[.activeFormat] = .text(chosen.name)
        configuration[.frameRate] = .number(max(chosen.minFrameRate, min(rate, chosen.maxFrameRate)))
        return configuration
    }
}

package struct DoorFormat: Hashable, Sendable {
    package var width, height: Int
    package var rate: Double

    package init(width: Int, height: Int, rate: Double) { (self.width, self.height, self.rate) = (width, height, rate) }
}
