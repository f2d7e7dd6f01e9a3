import CLinux
import Glibc
import Testing

/// The room for files in memory, by control groups and the machine.
@Suite struct MemoryRoomTests {
    private static let mebibyte: Int64 = 1 << 20
    private static let gibibyte: Int64 = 1 << 30

    /// With these files in a folder of the test's own.
    private func room(
        _ groups: String, _ files: [String: String]..., available: Int64? = nil, machine: Int64 = 64 * gibibyte
    ) throws -> Int64 {
        var all = ["/proc/self/cgroup": groups]
        if let available { all["/proc/meminfo"] = "MemTotal:  1 kB\nMemAvailable:   \(available / 1024) kB\n" }
        for some in files { all.merge(some) { $1 } }
        let folder = try temporaryFolder()
        var made = [folder]
        defer { for path in made.reversed() { remove(path) } }
        for (name, text) in all {
            var path = folder
            for part in name.split(separator: "/").dropLast() {
                path += "/" + part
                if mkdir(path, 0o700) == 0 { made.append(path) }
            }
            let file = try #require(fopen(folder + name, "w"))
            fputs(text, file)
            fclose(file)
            made.append(folder + name)
        }
        return camarb_memory_room(folder, machine)
    }

    /// A group of the second version. Nil: without a limit.
    private func group(_ name: String, _ limit: Int64?, usage: Int64 = 0, reclaimable: Int64 = 0) -> [String: String] {
        [
            "/sys/fs/cgroup\(name)/memory.max": (limit.map { "\($0)" } ?? "max") + "\n",
            "/sys/fs/cgroup\(name)/memory.current": "\(usage)\n",
            "/sys/fs/cgroup\(name)/memory.stat":
                "anon 1\nfile 99999999999\ninactive_file_other 7777777777\nactive_file \(reclaimable / 2)\n"
                + "inactive_file \(reclaimable / 2)\n",
        ]
    }

    /// A group of the first version.
    private func firstGroup(_ name: String, _ limit: Int64, usage: Int64, reclaimable: Int64 = 0) -> [String: String] {
        [
            "/sys/fs/cgroup/memory\(name)/memory.limit_in_bytes": "\(limit)\n",
            "/sys/fs/cgroup/memory\(name)/memory.usage_in_bytes": "\(usage)\n",
            "/sys/fs/cgroup/memory\(name)/memory.stat": "active_file 5\ntotal_inactive_file \(reclaimable)\n",
        ]
    }

    @Test(
        "Files in memory leave a group a gigabyte, or half of what it has; what the kernel can take back is free"
    )
    func keptForTheCamera() throws {
        let mebibytes: [(limit: Int64, usage: Int64, reclaimable: Int64, room: Int64)] = [
            (4096, 50, 0, 3022), (300, 50, 0, 100), (4096, 3072, 2048, 2048),
        ]
        for (limit, usage, reclaimable, room) in mebibytes {
            let service = group(
                "/system.slice/a.service", limit * Self.mebibyte, usage: usage * Self.mebibyte,
                reclaimable: reclaimable * Self.mebibyte)
            #expect(try self.room("0::/system.slice/a.service\n", service) == room * Self.mebibyte)
        }
    }

    @Test("The smallest room of a group and all that it is in counts; a group without a limit has none to say")
    func ancestors() throws {
        let found = try room(
            "0::/a/b/c\n", group("/a", 3 * Self.gibibyte, usage: Self.gibibyte + Self.mebibyte),
            group("/a/b", nil, usage: Self.gibibyte), group("/a/b/c", 4 * Self.gibibyte))
        #expect(found == Self.gibibyte - Self.mebibyte)
    }

    @Test("Groups of the first version are read as well, and one that says no limit has none")
    func firstVersion() throws {
        let groups = "4:memory,hugetlb:/a/b\n1:cpu:/c\n0::/\n"
        let unlimited: Int64 = 9_223_372_036_854_771_712
        let (top, a) = (
            firstGroup("", unlimited, usage: 8 * Self.gibibyte), firstGroup("/a", unlimited, usage: 8 * Self.gibibyte)
        )
        #expect(try room(groups, top, a) == .max)
        let b = firstGroup("/a/b", 4 * Self.gibibyte, usage: 2 * Self.gibibyte, reclaimable: Self.gibibyte)
        #expect(try room(groups, top, a, b) == 2 * Self.gibibyte)
    }

    @Test("No group has more than the machine, whose own memory counts where it is said, but for the camera's")
    func machine() throws {
        #expect(try room("0::/a\n", group("/a", 4 * Self.gibibyte), machine: Self.gibibyte) == Self.gibibyte / 2)
        #expect(try room("0::/\n", available: 3 * Self.gibibyte) == 2 * Self.gibibyte)
        let small = try room("0::/\n", available: 3 * Self.gibibyte, machine: 4 * Self.gibibyte)
        #expect(small == 3 * Self.gibibyte - Self.gibibyte / 2)
    }

    @Test("Where neither a group nor the machine says anything, nothing is known")
    func unknown() throws {
        #expect(try room("0::/a\n") == .max)
        #expect(camarb_memory_room("/nonexistent", Self.gibibyte) == .max)
        #expect(camarb_machine_memory() > 0)
    }
}
