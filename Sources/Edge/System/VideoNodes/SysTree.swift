import Glibc
import Vocabulary

/// Reads the few files of sysfs that identify a video node.
struct SysTree {
    let root: String

    func names(in folder: String) -> [String] { namesInFolder("\(root)/\(folder)") }

    func node(_ name: String, devices: String) -> VideoNode? {
        // The node may go during the reading: then it is not there.
        guard let path = resolved("\(root)/class/video4linux/\(name)") else { return nil }
        guard let label = text("\(path)/name") else { return nil }
        let index = text("\(path)/index").flatMap { Int($0) } ?? 0
        // …/DEVICE/video4linux/videoN; a device without a parent is …/virtual/video4linux/videoN.
        let parents = path.split(separator: "/").dropLast(2).map(String.init)
        var folder = "/" + parents.joined(separator: "/")
        var serial: String?
        for _ in parents where serial == nil {
            if let vendor = text("\(folder)/idVendor"), let model = text("\(folder)/idProduct") {
                // A device without a serial number is told from others by its place alone.
                guard let number = text("\(folder)/serial"), !number.isEmpty else { break }
                serial = "usb-\(vendor):\(model)-\(number)".asIdentity + (index > 0 ? "-\(index)" : "")
            }
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { break }
            folder = String(folder[..<slash])
        }
        return VideoNode(
            path: "\(devices)/\(name)", name: label,
            place: Self.place(parents, label: label, index: index, isSuperSpeed: isSuperSpeed(parents)),
            serial: serial, sysPath: path)
    }

    /// Whether it is on the fast one of a controller's two USB buses: each counts its ports by itself, so that two
    /// cameras may be at port 1.
    private func isSuperSpeed(_ parents: [String]) -> Bool {
        guard let hub = parents.firstIndex(where: { $0.hasPrefix("usb") && $0.dropFirst(3).allSatisfy(\.isNumber) }),
            let speed = text("/" + parents[...hub].joined(separator: "/") + "/speed").flatMap({ Int($0) })
        else { return false }
        return speed >= Self.superSpeed
    }

    /// Megabits a second, as sysfs has them.
    private static let superSpeed = 5000

    /// Bus and port of a device from its folders, written as udev writes its `ID_PATH`, and with the revision of the
    /// bus, as udev writes it since version 255, where it is the fast one.
    static func place(_ parents: [String], label: String, index: Int, isSuperSpeed: Bool) -> String {
        var parts: [String] = []
        var hasPort = false
        for (place, name) in parents.enumerated() {
            let before = place > 0 ? parents[place - 1] : ""
            if name.isPCIFunction {
                parts = ["pci-\(name)"]
            } else if before == "platform" {
                parts.append("platform-\(name)")
            } else if let port = name.usbInterface {
                parts.append("\(isSuperSpeed ? "usbv3" : "usb")-0:\(port)")
                hasPort = true
            }
        }
        if parts.isEmpty { parts = [parents.last ?? "video"] }
        // Several cameras may share one device outside of USB; its driver's name of each tells them apart.
        if !hasPort { parts.append(label) }
        if index > 0 { parts.append("\(index)") }
        return parts.joined(separator: "-").asIdentity
    }

    /// The first line of a small file; `nil` where it cannot be read.
    private func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes.prefix(count).prefix { $0 != 0x0a }, as: UTF8.self)
    }
}

/// A variable that is set and not empty.
package func environment(_ name: String) -> String? {
    guard let value = getenv(name), value[0] != 0 else { return nil }
    return String(cString: value)
}

/// The end of a path's links; `nil`, with the reason in `errno`, where they lead to no file.
package func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// The names in a folder, without hidden ones; none where it cannot be read.
package func namesInFolder(_ folder: String) -> [String] {
    guard let open = opendir(folder) else { return [] }
    defer { closedir(open) }
    var names: [String] = []
    while let entry = readdir(open) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names
}

extension String {
    /// A plain word: anything else becomes `_`, as udev does it.
    var asIdentity: String {
        String(
            decoding: utf8.prefix(Self.identityBytesMax).map { PlainWord.contains($0) ? $0 : UInt8(ascii: "_") },
            as: UTF8.self)
    }

    /// A little less than the bound of `v4l2:IDENTITY`, so that an index fits after it.
    static let identityBytesMax = 190

    /// `0000:00:14.0`.
    fileprivate var isPCIFunction: Bool {
        let bytes = Array(utf8)
        guard bytes.count == 12, bytes[4] == UInt8(ascii: ":"), bytes[7] == UInt8(ascii: ":") else { return false }
        return bytes[10] == UInt8(ascii: ".")
    }

    /// `1.4:1.0` of `2-1.4:1.0`: the port without the bus, whose number depends on the order of appearance.
    fileprivate var usbInterface: Substring? {
        guard let dash = firstIndex(of: "-"), let colon = firstIndex(of: ":"), dash < colon,
            self[..<dash].allSatisfy(\.isNumber), !self[..<dash].isEmpty
        else { return nil }
        return self[index(after: dash)...]
    }
}
