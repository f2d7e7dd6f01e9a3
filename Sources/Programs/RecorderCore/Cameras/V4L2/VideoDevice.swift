package import CMedia
package import System

/// One video node, as far as a camera needs it: the seam between what a camera does and what the kernel is asked.
///
/// Every method is one call of the kernel. The capture thread is its only user.
package protocol VideoDevice: AnyObject {
    /// To poll; -1 while closed.
    var descriptor: Int32 { get }

    /// - Throws: `ENODEV` when it is not plugged in.
    func open() throws(VideoFault)
    /// Gives buffers and queue back, too. Fine when closed.
    func close()

    /// - Returns: what a person calls the camera, and whether it gives pictures as a stream.
    func identify() throws(VideoFault) -> (card: String, canStream: Bool)
    func fourccs() -> [UInt32]
    func sizes(of fourcc: UInt32) -> [camarb_video_range]
    func intervals(of fourcc: UInt32, width: Int, height: Int) -> [camarb_video_interval]
    /// - Returns: the format in force, or that would be.
    func set(_ format: camarb_video_format, onlyTry: Bool) throws(VideoFault) -> camarb_video_format
    /// Frames a second; the nearest that the device has is in force afterwards, and given back.
    func set(frameRate: Double) throws(VideoFault) -> Double

    /// Buffers of the driver's memory. 0 gives them back. Returns how many there are.
    func request(buffers: Int) throws(VideoFault) -> Int
    /// Whether any program has buffers of it, without asking for any; nil where a driver says so only to programs with buffers.
    func hasBuffers() -> Bool?
    func map(_ index: Int) throws(VideoFault) -> UnsafeMutableRawBufferPointer
    func unmap(_ memory: UnsafeMutableRawBufferPointer)
    func queue(_ index: Int) throws(VideoFault)
    func dequeue() throws(VideoFault) -> camarb_video_frame?
    /// The queue may end while somebody has a descriptor of one of its buffers: known once there are some.
    var buffersCanOutliveTheirQueue: Bool { get }
    /// A descriptor of a buffer's memory, for reading only. The caller's.
    func export(_ index: Int) throws(VideoFault) -> Int32
    func stream(_ on: Bool) throws(VideoFault)

    func control(_ id: UInt32) -> camarb_video_control?
    /// A menu's entries that there are: their index, and their number where it is a menu of numbers.
    func menu(_ control: camarb_video_control) -> [(index: Int64, value: Int64)]
    func value(of id: UInt32) throws(VideoFault) -> Int64
    func set(_ id: UInt32, to value: Int64) throws(VideoFault)
    func subscribe(to id: UInt32)
    /// A control that somebody else changed; nil when there is no more news.
    func news() -> (id: UInt32, value: Int64)?

    /// The part of the sensor that is read usually; nil where the device cannot crop.
    func usualCrop() -> camarb_video_rectangle?
    func set(crop: camarb_video_rectangle) throws(VideoFault) -> camarb_video_rectangle

    /// Makes YU12 of a format that only libv4lconvert knows.
    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoFault)

    /// Has the kernel say in an inotify queue when the node is opened and closed, also after this process has ended.
    func watch(in queue: Int32) throws(VideoFault)

    /// The program that has the node open beside this process, as far as that can be seen: `PID 1234 (cheese)`.
    func otherHolder() -> String?
}

/// A call of the kernel that failed. What was tried is a verb phrase, such as "start streaming".
package typealias VideoFault = SystemFault
