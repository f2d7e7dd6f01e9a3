import Foundation
import System
import Testing

/// A little sysfs in a temporary folder.
private final class FakeSys {
    let root = "/tmp/camarb-sys-\(UUID().uuidString)"

    init() throws { try folder("class/video4linux") }
    deinit { try? FileManager.default.removeItem(atPath: root) }

    func folder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: "\(root)/\(path)", withIntermediateDirectories: true)
    }

    func file(_ path: String, _ text: String) throws {
        try "\(text)\n".write(toFile: "\(root)/\(path)", atomically: false, encoding: .utf8)
    }

    /// A node on a device, whose folder is made with it.
    func node(_ number: Int, on device: String, name: String, index: Int = 0) throws {
        let path = "\(device)/video4linux/video\(number)"
        try folder(path)
        try file("\(path)/name", name)
        try file("\(path)/index", "\(index)")
        try #require(symlink("\(root)/\(path)", "\(root)/class/video4linux/video\(number)") == 0)
    }

    func unplug(_ number: Int) { unlink("\(root)/class/video4linux/video\(number)") }

    var nodes: VideoNodes { VideoNodes(sys: root) }
    func identities() -> [String] { nodes.all.map { nodes.identity(of: $0) } }
}

@Suite("Cameras are known by their identity, not by their numbers")
struct IdentityTests {
    private func webcam(_ sys: FakeSys, _ number: Int, port: String = "1-4", serial: String?, index: Int = 0) throws {
        let bus = "devices/pci0000:00/0000:00:14.0/usb\(port.prefix(1))"
        let device = "\(bus)/\(port)"
        try sys.node(number, on: "\(device)/\(port):1.0", name: "HD Pro Webcam C920", index: index)
        // The second bus is the same controller's fast one.
        try sys.file("\(bus)/speed", port.hasPrefix("2") ? "10000" : "480")
        try sys.file("\(device)/idVendor", "046d")
        try sys.file("\(device)/idProduct", "082d")
        if let serial { try sys.file("\(device)/serial", serial) }
    }

    @Test("A serial number is taken along to another port, and to another node number")
    func serialFollows() throws {
        let sys = try FakeSys()
        try webcam(sys, 0, serial: "4C1F 3A9E")
        let before = try #require(sys.nodes.all.first)
        #expect(sys.identities() == ["usb-046d:082d-4C1F_3A9E"])
        sys.unplug(0)
        #expect(sys.nodes.node("usb-046d:082d-4C1F_3A9E") == nil)
        try webcam(sys, 7, port: "1-2", serial: "4C1F 3A9E")
        let after = try #require(sys.nodes.node("usb-046d:082d-4C1F_3A9E"))
        #expect(after.path == "/dev/video7")
        #expect(before.place != after.place, "the place is another one")
    }

    @Test(
        "A camera without a serial number is known by its port, and cameras that are alike by bus, place or index",
        arguments: [
            ([("1-4", nil, 0)], ["pci-0000:00:14.0-usb-0:4:1.0"]),
            // At ports of one number, on a controller's slow and fast bus.
            ([("1-4", nil, 0), ("2-4", nil, 0)], ["pci-0000:00:14.0-usb-0:4:1.0", "pci-0000:00:14.0-usbv3-0:4:1.0"]),
            ([("1-4", "SN1", 0), ("1-3", "SN1", 0)], ["usb-046d:082d-SN1", "pci-0000:00:14.0-usb-0:4:1.0"]),
            // Two nodes of one device.
            ([("1-4", "A", 0), ("1-4", "A", 1)], ["usb-046d:082d-A", "usb-046d:082d-A-1"]),
        ] as [([(port: String, serial: String?, index: Int)], [String])])
    func alike(_ webcams: [(port: String, serial: String?, index: Int)], _ identities: [String]) throws {
        let sys = try FakeSys()
        for (number, camera) in webcams.enumerated() {
            try webcam(sys, number, port: camera.port, serial: camera.serial, index: camera.index)
        }
        #expect(sys.identities() == identities)
    }

    @Test("Several cameras of one device that is on no bus are told apart by their driver's names")
    func platformDevices() throws {
        let sys = try FakeSys()
        try sys.node(1, on: "devices/platform/vivid.0", name: "vivid-001-vid-cap")
        try sys.node(0, on: "devices/platform/vivid.0", name: "vivid-000-vid-cap")
        #expect(sys.identities() == ["platform-vivid.0-vivid-000-vid-cap", "platform-vivid.0-vivid-001-vid-cap"])
        try sys.node(2, on: "devices/virtual", name: "Dummy video device (0x0000)")
        #expect(sys.identities().last == "virtual-Dummy_video_device__0x0000_")
    }

    @Test("What a program makes up has no device behind it, and is told from a camera that is on no bus")
    func madeUp() throws {
        let sys = try FakeSys()
        try sys.node(0, on: "devices/platform/vivid.0", name: "vivid-000-vid-cap")
        try sys.node(9, on: "devices/virtual", name: "OBS Virtual Camera")
        #expect(sys.nodes.all.map(\.isMadeUp) == [false, true])
    }

    @Test("A machine without cameras has none")
    func none() throws {
        #expect(try FakeSys().nodes.all.isEmpty)
        #expect(VideoNodes(sys: "/nonexistent").all.isEmpty)
    }
}
