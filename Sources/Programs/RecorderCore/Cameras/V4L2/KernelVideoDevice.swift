import ArbiterProtocol
import CLinux
package import CMedia
import Glibc
package import System

/// One video node, as far as a camera needs it: the seam between a camera's behaviour and the kernel. Every method is one call
/// of the kernel. Threading: the capture thread only.
package protocol VideoDevice: AnyObject {
    /// To poll; -1 while closed.
    var descriptor: Int32 { get }

    /// - Throws: `ENODEV` when it is not plugged in.
    func open() throws(VideoFault)
    /// Gives buffers and queue back, too. Fine when closed.
    func close()

    /// - Returns: the camera's name for people, and whether it gives pictures as a stream.
    func identify() throws(VideoFault) -> (card: String, canStream: Bool)
    func fourccs() -> [UInt32]
    func sizes(of fourcc: UInt32) -> [camarb_video_range]
    func intervals(of fourcc: UInt32, width: Int, height: Int) -> [camarb_video_interval]
    /// - Returns: the format in force, or with `onlyTry` the one that would be.
    func set(_ format: camarb_video_format, onlyTry: Bool) throws(VideoFault) -> camarb_video_format
    /// Frames a second. Returns the device's nearest rate, which is in force afterwards.
    func set(frameRate: Double) throws(VideoFault) -> Double

    /// Requests buffers of the driver's memory. 0 gives them back. Returns how many there are.
    func request(buffers: Int) throws(VideoFault) -> Int
    /// Whether any program has buffers of it, without a request for some; `nil` where a driver reports that only to programs
    /// with buffers.
    func hasBuffers() -> Bool?
    func map(_ index: Int) throws(VideoFault) -> UnsafeMutableRawBufferPointer
    func unmap(_ memory: UnsafeMutableRawBufferPointer)
    func queue(_ index: Int) throws(VideoFault)
    func dequeue() throws(VideoFault) -> camarb_video_frame?
    /// The queue may end while a client has a descriptor of one of its buffers: known once there are some.
    var buffersCanOutliveTheirQueue: Bool { get }
    /// A descriptor of a buffer's memory, for reading only. The caller's.
    func export(_ index: Int) throws(VideoFault) -> Int32
    func stream(_ on: Bool) throws(VideoFault)

    func control(_ id: UInt32) -> camarb_video_control?
    /// A menu's entries: their index, and their number where it is a menu of numbers.
    func menu(_ control: camarb_video_control) -> [(index: Int64, value: Int64)]
    func value(of id: UInt32) throws(VideoFault) -> Int64
    func set(_ id: UInt32, to value: Int64) throws(VideoFault)
    func subscribe(to id: UInt32)
    /// The next change of a control by another program.
    func news() -> (id: UInt32, value: Int64)?

    /// The part of the sensor that is read usually; `nil` where the device cannot crop.
    func usualCrop() -> camarb_video_rectangle?
    func set(crop: camarb_video_rectangle) throws(VideoFault) -> camarb_video_rectangle

    /// Makes YU12 of a format that only libv4lconvert reads.
    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoFault)

    /// Has the kernel write to an inotify queue when the node is opened and closed, also after this process has ended.
    func watch(in queue: Int32) throws(VideoFault)
    /// The program that has the node open beside this process, as far as that can be seen: `PID 1234 (cheese)`.
    func otherHolder() -> String?
}

/// A call of the kernel that failed. Its action is a verb phrase, such as "start streaming".
package typealias VideoFault = SystemFault

extension SystemFault {
    /// The kernel's words are of a full disk. In truth the bus is full: its bandwidth is given to other cameras.
    var words: String { number == ENOSPC ? "cannot \(doing): \(DeviceFault.noRoomWords)" : description }
}

/// A real node, found by its identity each time it is opened: its number may have changed.
final class KernelVideoDevice: VideoDevice {
    private let identity: String
    private(set) var descriptor: Int32 = -1
    private(set) var buffersCanOutliveTheirQueue = false
    private var path = ""
    private var queueType: Int32 = 0
    private var converter: OpaquePointer?
    /// A longer list is a driver's mistake.
    private static let entriesMax: UInt32 = 1024

    init(identity: String) { self.identity = identity }
    deinit { close() }

    func open() throws(VideoFault) {
        close()
        guard let node = VideoNodes().node(identity) else { throw VideoFault("find it", ENODEV) }
        path = node.path
        descriptor = try check(camarb_video_open(path), "open \(path)")
    }

    func close() {
        camarb_converter_free(converter)
        converter = nil
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    func identify() throws(VideoFault) -> (card: String, canStream: Bool) {
        var card = [CChar](repeating: 0, count: Int(CAMARB_CARD_BYTES))
        queueType = try check(camarb_video_identify(descriptor, &card), "ask what it is")
        return (text(card), queueType != 0)
    }

    // MARK: Formats

    private func list<Entry>(_ empty: Entry, _ read: (_ index: UInt32, inout Entry) -> Int32) -> [Entry] {
        var found: [Entry] = []
        var entry = empty
        while found.count < Self.entriesMax, read(UInt32(found.count), &entry) == 0 { found.append(entry) }
        return found
    }

    func fourccs() -> [UInt32] { list(0) { camarb_video_format_at(descriptor, queueType, $0, &$1) } }

    func sizes(of fourcc: UInt32) -> [camarb_video_range] {
        list(camarb_video_range()) { camarb_video_size_at(descriptor, fourcc, $0, &$1) }
    }

    func intervals(of fourcc: UInt32, width: Int, height: Int) -> [camarb_video_interval] {
        let (width, height) = (UInt32(clamping: width), UInt32(clamping: height))
        return list(camarb_video_interval()) { camarb_video_interval_at(descriptor, fourcc, width, height, $0, &$1) }
    }

    func set(_ format: camarb_video_format, onlyTry: Bool) throws(VideoFault) -> camarb_video_format {
        var format = format
        try check(
            camarb_video_set_format(descriptor, queueType, onlyTry ? 1 : 0, &format),
            "set it to \(format.width)x\(format.height)")
        return format
    }

    func set(frameRate: Double) throws(VideoFault) -> Double {
        // Seconds as a fraction whose numerator distinguishes 29.97 from 30.
        var numerator: UInt32 = 1000
        var denominator = UInt32(clamping: Int((frameRate * 1000).rounded()))
        try check(camarb_video_set_interval(descriptor, queueType, &numerator, &denominator), "set its frame rate")
        guard numerator > 0, denominator > 0 else { return frameRate }
        return Double(denominator) / Double(numerator)
    }

    // MARK: Buffers

    func request(buffers: Int) throws(VideoFault) -> Int {
        var count = UInt32(clamping: buffers)
        var canOutlive: UInt32 = 0
        try check(camarb_video_request(descriptor, queueType, &count, &canOutlive), "get buffers")
        buffersCanOutliveTheirQueue = canOutlive != 0
        return Int(count)
    }

    func hasBuffers() -> Bool? {
        var (offset, bytes): (UInt32, UInt32) = (0, 0)
        let result = camarb_video_buffer(descriptor, queueType, 0, &offset, &bytes)
        return result == 0 ? true : result == -EINVAL ? false : nil
    }

    func map(_ index: Int) throws(VideoFault) -> UnsafeMutableRawBufferPointer {
        var (offset, bytes): (UInt32, UInt32) = (0, 0)
        try check(
            camarb_video_buffer(descriptor, queueType, UInt32(clamping: index), &offset, &bytes), "look at a buffer")
        guard let memory = mmap(nil, Int(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, Int(offset)),
            memory != MAP_FAILED
        else { throw VideoFault("map a buffer", errno) }
        return UnsafeMutableRawBufferPointer(start: memory, count: Int(bytes))
    }

    func unmap(_ memory: UnsafeMutableRawBufferPointer) { munmap(memory.baseAddress, memory.count) }

    func queue(_ index: Int) throws(VideoFault) {
        try check(camarb_video_queue(descriptor, queueType, UInt32(clamping: index)), "hand a buffer over")
    }

    func dequeue() throws(VideoFault) -> camarb_video_frame? {
        var frame = camarb_video_frame()
        let result = camarb_video_dequeue(descriptor, queueType, &frame)
        if result == -EAGAIN { return nil }
        try check(result, "take a frame")
        return frame
    }

    func export(_ index: Int) throws(VideoFault) -> Int32 {
        try check(camarb_video_export(descriptor, queueType, UInt32(clamping: index)), "share a buffer")
    }

    func stream(_ on: Bool) throws(VideoFault) {
        try check(camarb_video_stream(descriptor, queueType, on ? 1 : 0), on ? "start streaming" : "stop streaming")
    }

    // MARK: Controls

    func control(_ id: UInt32) -> camarb_video_control? {
        var found = camarb_video_control()
        guard camarb_video_control(descriptor, id, &found) == 0, found.is_disabled == 0 else { return nil }
        return found
    }

    func menu(_ control: camarb_video_control) -> [(index: Int64, value: Int64)] {
        guard control.least >= 0, control.most >= control.least, control.most - control.least <= Int64(Self.entriesMax)
        else { return [] }
        return (control.least...control.most).compactMap { index in
            var value: Int64 = 0
            // Menus have gaps.
            let result = camarb_video_menu_entry(descriptor, control.id, UInt32(clamping: index), &value)
            return result == 0 ? (index, value) : nil
        }
    }

    func value(of id: UInt32) throws(VideoFault) -> Int64 {
        var value: Int64 = 0
        try check(camarb_video_get_control(descriptor, id, &value), "read a control")
        return value
    }

    func set(_ id: UInt32, to value: Int64) throws(VideoFault) {
        try check(camarb_video_set_control(descriptor, id, value), "set a control")
    }

    func subscribe(to id: UInt32) { _ = camarb_video_subscribe(descriptor, id) }

    func news() -> (id: UInt32, value: Int64)? {
        var (id, value): (UInt32, Int64) = (0, 0)
        return camarb_video_news(descriptor, &id, &value) == 0 ? (id, value) : nil
    }

    // MARK: Crop and conversion

    func usualCrop() -> camarb_video_rectangle? {
        var rectangle = camarb_video_rectangle()
        guard camarb_video_crop_usual(descriptor, queueType, &rectangle) == 0 else { return nil }
        // A device that shows its crop may still refuse a change. Tried with the present crop: another program may be looking.
        var present = camarb_video_rectangle()
        guard camarb_video_get_crop(descriptor, queueType, &present) == 0,
            camarb_video_set_crop(descriptor, queueType, &present) == 0
        else { return nil }
        return rectangle
    }

    func set(crop: camarb_video_rectangle) throws(VideoFault) -> camarb_video_rectangle {
        var crop = crop
        try check(camarb_video_set_crop(descriptor, queueType, &crop), "crop")
        return crop
    }

    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoFault) {
        if converter == nil { converter = camarb_converter_new(descriptor) }
        guard let converter else { throw VideoFault("convert a picture", ENOMEM) }
        var format = format
        try check(
            camarb_converter_run(
                converter, &format, bytes.baseAddress, bytes.count, target.baseAddress, target.count),
            "convert a picture")
    }

    func watch(in queue: Int32) throws(VideoFault) {
        guard let node = VideoNodes().node(identity) else { throw VideoFault("find it", ENODEV) }
        try check(camarb_open_watch_add(queue, node.path), "watch \(node.path)")
    }

    func otherHolder() -> String? { OutsideHolder.find(path: path) }
}

/// A camera of the machine, for lists that people read.
public struct MachineCamera: Hashable, Sendable {
    /// As `--camera ID=v4l2:` takes it.
    public var identity: String
    /// Such as `/dev/video0`; another one after the next plugging in.
    public var node: String
    public var name: String

    /// Opens each node for a moment to see whether it gives pictures; one that cannot be opened is listed with the
    /// reason for a name.
    public static func all() -> [MachineCamera] {
        let nodes = VideoNodes()
        return nodes.all.compactMap { node in
            let identity = nodes.identity(of: node)
            do throws(BrokerError) {
                let camera = try V4L2Camera(KernelVideoDevice(identity: identity), identity: identity)
                return MachineCamera(identity: identity, node: node.path, name: camera.capabilities.name)
            } catch {
                guard error.kind != .unknownCamera else { return nil }
                return MachineCamera(identity: identity, node: node.path, name: "(\(error.message))")
            }
        }
    }
}

/// Looks for the process that has a device node open, in `/proc/*/fd`, as far as this process may see descriptors of others.
enum OutsideHolder {
    /// `PID 1234 (cheese)`, the lowest such process beside this one.
    static func find(path: String, proc: String = "/proc") -> String? {
        var wanted = stat()
        guard stat(path, &wanted) == 0, wanted.st_mode & S_IFMT == S_IFCHR else { return nil }
        let own = getpid()
        for process in numbers(proc).sorted() where process != own {
            for descriptor in numbers("\(proc)/\(process)/fd") {
                // Only nodes are looked at: stat(2) of a file of a network that is down would wait for it.
                var target = [CChar](repeating: 0, count: 16)
                let link = "\(proc)/\(process)/fd/\(descriptor)"
                guard readlink(link, &target, target.count) > 5, strncmp(target, "/dev/", 5) == 0 else { continue }
                var found = stat()
                guard stat(link, &found) == 0, found.st_mode & S_IFMT == S_IFCHR, found.st_rdev == wanted.st_rdev
                else { continue }
                var buffer = [CChar](repeating: 0, count: 64)
                let length = camarb_name_of(process, &buffer, buffer.count)
                let name = text(buffer.prefix(max(0, length)))
                return "PID \(process)" + (name.isEmpty ? "" : " (\(name))")
            }
        }
        return nil
    }

    private static func numbers(_ folder: String) -> [Int32] { namesInFolder(folder).compactMap { Int32($0) } }
}

/// Up to the first zero byte.
private func text(_ characters: some Sequence<CChar>) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
