import CLinux
import Glibc
import Testing

/// What is left for files in memory, as control groups and the machine say it.
@Suite struct MemoryRoomTests {
    private static let mebibyte: Int64 = 1 << 20
    private static let gibibyte: Int64 = 1 << 30

    /// A folder with /proc and /sys of the test's own; gone with it.
    private final class System {
        let path: String
        private var made: [String] = []

        init(groups: String, available: Int64? = nil) throws {
            var template = Array("/tmp/camarb-system-XXXXXX".utf8CString)
            path = try #require(
                template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
            try write(groups, to: "/proc/self/cgroup")
            if let available {
                try write("MemTotal:  1 kB\nMemAvailable:   \(available / 1024) kB\n", to: "/proc/meminfo")
            }
        }

        deinit { for name in made.reversed() { remove(name) } }

        func write(_ text: String, to name: String) throws {
            var folder = path
            if made.isEmpty { made.append(path) }
            for part in name.split(separator: "/").dropLast() {
                folder += "/" + part
                if mkdir(folder, 0o700) == 0 { made.append(folder) }
            }
            let file = try #require(fopen(path + name, "w"))
            fputs(text, file)
            fclose(file)
            made.append(path + name)
        }

        /// A group of the second version.
        func group(_ name: String, limit: String, usage: Int64, reclaimable: Int64 = 0) throws {
            try write(limit + "\n", to: "/sys/fs/cgroup\(name)/memory.max")
            try write("\(usage)\n", to: "/sys/fs/cgroup\(name)/memory.current")
            try write(
                "anon 1\nfile 99999999999\ninactive_file_other 7777777777\nactive_file \(reclaimable / 2)\n"
                    + "inactive_file \(reclaimable / 2)\n", to: "/sys/fs/cgroup\(name)/memory.stat")
        }

        /// A group of the first version.
        func firstGroup(_ name: String, limit: String, usage: Int64, reclaimable: Int64 = 0) throws {
            let folder = "/sys/fs/cgroup/memory\(name)"
            try write(limit + "\n", to: folder + "/memory.limit_in_bytes")
            try write("\(usage)\n", to: folder + "/memory.usage_in_bytes")
            try write("active_file 5\ntotal_inactive_file \(reclaimable)\n", to: folder + "/memory.stat")
        }

        func room(machine: Int64 = 64 * gibibyte) -> Int64 { camarb_memory_room(path, machine) }
    }

    @Test("Files in memory leave a group a gigabyte, or half of it where it has less than two")
    func keptForTheCamera() throws {
        for (limit, kept) in [(4 * Self.gibibyte, Self.gibibyte), (300 * Self.mebibyte, 150 * Self.mebibyte)] {
            let system = try System(groups: "0::/system.slice/a.service\n")
            try system.group("/system.slice/a.service", limit: "\(limit)", usage: 50 * Self.mebibyte)
            #expect(system.room() == limit - 50 * Self.mebibyte - kept)
        }
    }

    @Test("What the kernel can take back counts as free")
    func reclaimable() throws {
        let system = try System(groups: "0::/a\n")
        try system.group("/a", limit: "\(4 * Self.gibibyte)", usage: 3 * Self.gibibyte, reclaimable: 2 * Self.gibibyte)
        #expect(system.room() == 2 * Self.gibibyte)
    }

    @Test("The smallest room of a group and all that it is in counts; a group without a limit has none to say")
    func ancestors() throws {
        let system = try System(groups: "0::/a/b/c\n")
        try system.group("/a", limit: "\(3 * Self.gibibyte)", usage: Self.gibibyte + Self.mebibyte)
        try system.group("/a/b", limit: "max", usage: Self.gibibyte)
        try system.group("/a/b/c", limit: "\(4 * Self.gibibyte)", usage: 0)
        #expect(system.room() == Self.gibibyte - Self.mebibyte)
    }

    @Test("Groups of the first version are read as well, and one that says no limit has none")
    func firstVersion() throws {
        let system = try System(groups: "4:memory,hugetlb:/a/b\n1:cpu:/c\n0::/\n")
        try system.firstGroup("", limit: "9223372036854771712", usage: 8 * Self.gibibyte)
        try system.firstGroup("/a", limit: "9223372036854771712", usage: 8 * Self.gibibyte)
        #expect(system.room() == .max)
        try system.firstGroup(
            "/a/b", limit: "\(4 * Self.gibibyte)", usage: 2 * Self.gibibyte, reclaimable: Self.gibibyte)
        #expect(system.room() == 2 * Self.gibibyte)
    }

    @Test("No group has more than the machine")
    func smallMachine() throws {
        let system = try System(groups: "0::/a\n")
        try system.group("/a", limit: "\(4 * Self.gibibyte)", usage: 0)
        #expect(system.room(machine: Self.gibibyte) == Self.gibibyte / 2)
    }

    @Test("The machine's own memory counts where it is said: what is available, but for the camera's")
    func machine() throws {
        let system = try System(groups: "0::/\n", available: 3 * Self.gibibyte)
        #expect(system.room() == 2 * Self.gibibyte)
        #expect(system.room(machine: 4 * Self.gibibyte) == 3 * Self.gibibyte - Self.gibibyte / 2)
    }

    @Test("Where neither a group nor the machine says anything, nothing is known")
    func unknown() throws {
        #expect(try System(groups: "0::/a\n").room() == .max)
        #expect(camarb_memory_room("/nonexistent", Self.gibibyte) == .max)
        #expect(camarb_machine_memory() > 0)
    }
}
