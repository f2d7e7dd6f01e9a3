import CLinux
import CSystemd
import Glibc
import System

extension BusConnection {
    struct Sockets {
        let bus: OpaquePointer
        var waitedOn: Int32
        var intake: Intake?

        /// - Throws: with the descriptor still the caller's.
        init(_ descriptor: Int32, _ traffic: BusTraffic?, _ keepers: DescriptorKeepers?) throws(SystemFault) {
            var created: OpaquePointer?
            let result = sd_bus_new(&created)
            guard result >= 0, let created else { throw SystemFault("create a connection", result) }
            bus = created
            waitedOn = camarb_duplicate(descriptor)
            do throws(SystemFault) {
                try check(waitedOn, "start a connection")
                var input = descriptor
                if let traffic { input = try takeIn(descriptor, traffic, keepers) }
                let adopted = sd_bus_set_fd(bus, input, descriptor)
                if adopted < 0 && traffic != nil { Glibc.close(input) }
                try check(adopted, "adopt descriptor \(descriptor)")
            } catch {
                // An intake has it, and closes it.
                if waitedOn >= 0 && intake == nil { Glibc.close(waitedOn) }
                _ = sd_bus_unref(bus)
                throw error
            }
        }

        private mutating func takeIn(
            _ descriptor: Int32, _ traffic: BusTraffic, _ keepers: DescriptorKeepers?
        ) throws(SystemFault) -> Int32 {
            var user: uid_t = 0
            try check(camarb_peer_user(descriptor, &user), "tell who connected")
            let feed = try traffic.feedForStrangers()
            let outlet = try feed.newOutlet()
            intake = Intake(socket: waitedOn, feed: feed, user: user, keepers: keepers)
            return outlet
        }
    }
}
