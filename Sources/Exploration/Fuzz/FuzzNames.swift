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

    /// What cameras of stories can do, and policies tell apart.
    static let formats: [(pixelFormat: String, width: Int, height: Int, frameRate: Double)] = [
        ("420v", 1920, 1080, 30), ("420v", 1280, 720, 60), ("420v", 640, 480, 15), ("MJPG", 1920, 1080, 24),
    ]

    /// An app as a line names it.
    static func app(_ name: String, user: UInt32) -> String { user == 1000 ? name : "\(name)@\(user)" }
}
