/// The names that policies and stories have in common: few, so that what a rule asks for comes up in a story.
enum FuzzNames {
    static let cameras = ["back", "front", "wide"]
    static let apps = ["a", "b", "c", "d"]
    /// Mostly one user's: apps of two users know less of each other, and meet less.
    static let users: [UInt32] = [1000, 1000, 1000, 1001]
    static let groups: [UInt32] = [44, 100]
    static let logins = ["s1", "s2"]
    static let ranks = ["r0", "r1", "r2", "r3"]
    static let modes = ["night", "cleaning", "visitors"]
    static let attributes: [(name: String, values: [String])] = [
        ("duty", ["high", "mid", "low"]), ("place", ["desk", "door"]),
    ]

    /// What cameras of stories can do, and policies tell apart. Of these each camera has some: a camera that is plugged in again
    /// may lack what a session needs.
    static let formats = [
        Format("420v", 1920, 1080, "", 30, "\" zoom=4 lossless=2"), Format("420v", 1280, 720, "", 60, "\" zoom=2"),
        Format("420v", 640, 480, "", 15, "\""), Format("MJPG", 1920, 1080, "5-", 24, " binned\" zoom=3"),
    ]

    struct Format {
        let pixelFormat: String
        let width: Int
        let height: Int
        /// The most frames a second.
        let frameRate: Int
        /// As sessions ask for it, and as a camera's line has it.
        let name: String
        let line: String

        /// - Parameters:
        ///   - slowest: the fewest frames a second with a dash behind, where a line has them.
        ///   - end: what a line has behind the rate.
        fileprivate init(
            _ pixelFormat: String, _ width: Int, _ height: Int, _ slowest: String, _ frameRate: Int, _ end: String
        ) {
            (self.pixelFormat, self.width, self.height, self.frameRate) = (pixelFormat, width, height, frameRate)
            name = "\(pixelFormat) \(width)x\(height)@\(frameRate)"
            line = "format=\"\(pixelFormat) \(width)x\(height)@\(slowest)\(frameRate)\(end)"
        }
    }

    /// An app as a line names it.
    static func app(_ name: String, user: UInt32) -> String { user == 1000 ? name : "\(name)@\(user)" }
}
