import ArbiterProtocol
import CLinux
import Glibc
import RecorderCore
import Testing

extension FileWriter {
    func put(_ bytes: [UInt8], at offset: Int64) { bytes.withUnsafeBytes { put($0, at: offset) } }
    /// The answer to all orders so far.
    func answer() -> FileFault? {
        wantAnswer()
        return settle()
    }
}

/// The processes that write files. A process that is stopped stands for one that waits for its file.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FileWriterTests {
    private func writer(_ house: FileWriters, _ file: TemporaryFile) throws -> (FileWriter, process: Int32) {
        let writer = try house.start(try envelope(file.open()))
        #expect(writer.answer() == nil)
        return (writer, try process(writing: file))
    }

    /// The child that has the file open: other tests have children, too.
    private func process(writing file: TemporaryFile) throws -> Int32 {
        var found = glob_t()
        defer { globfree(&found) }
        try #require(glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, nil, &found) == 0)
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        let open = try #require(
            paths.first { path in
                var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
                let count = bytes.withUnsafeMutableBytes {
                    readlink(path, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
                }
                return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == file.path
            })
        return try #require(Int32(open.split(separator: "/")[1]))
    }

    /// An order that fails in every file system, as the error that this returns: no file has a byte there, and no memory has room for it.
    /// How long a file may be made is another matter in each, and as long as a number says in /tmp where that is in memory.
    private func orderWhatFails(_ writer: FileWriter, _ file: TemporaryFile) throws -> FileFault {
        let descriptor = try file.open()
        defer { close(descriptor) }
        var checked = camarb_file()
        try #require(camarb_check_output_file(descriptor, &checked) == camarb_file_good)
        let isInMemory = checked.system == 0x0102_1994  // TMPFS_MAGIC
        writer.put([7], at: .max)
        return .system(isInMemory ? ENOSPC : EINVAL)
    }

    @Test("A file that was longer has nothing of what was in it, and one that is opened again has all of it")
    func empties() throws {
        let house = FileWriters.patient
        let file = try TemporaryFile()
        try file.write([UInt8](repeating: 0xA5, count: 300_000))
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        do {
            let writer = try house.start(try envelope(file.open()))
            #expect(writer.answer() == nil)
            #expect(try file.bytes() == [])
            writer.put(bytes, at: 0)
            #expect(writer.answer() == nil)
            #expect(try file.bytes() == bytes)
        }
        let (passed, mark) = try openedEnvelope(file)
        close(mark)
        let again = try house.start(passed, again: true)
        #expect(try again.openedAgain() == 1000)
        #expect(try again.read(4, at: 998) == Array(bytes[998...]), "and no more than there is")
        #expect(try again.read(4, at: 500) == Array(bytes[500..<504]))
        #expect(try again.read(4, at: 1000) == [])
        again.put([9], at: 999)
        #expect(again.answer() == nil)
        #expect(try file.bytes() == bytes.dropLast() + [9])
    }

    @Test("After an error all is passed over until it was answered as its number, and each error is answered once")
    func errors() throws {
        let file = try TemporaryFile()
        let writer = try FileWriters.patient.start(try envelope(file.open()))
        // Three orders that fail or are passed over, and one answer.
        let error = try orderWhatFails(writer, file)
        writer.put([1, 2, 3], at: 0)
        writer.truncate(to: 2)
        #expect(writer.answer() == error)
        #expect(try file.bytes() == [])
        #expect(writer.answer() == nil)
        // Answers do not get mixed up where several are wanted at once.
        writer.put([1, 2, 3], at: 0)
        writer.wantAnswer()
        _ = try orderWhatFails(writer, file)
        writer.wantAnswer()
        writer.truncate(to: 2)
        #expect(writer.answer() == error)
        #expect(try file.bytes() == [1, 2])
    }

    @Test("What is put behind the end of a file leaves a hole of zeros, and a part of an order is written whole")
    func parts() throws {
        let file = try TemporaryFile()
        let writer = try FileWriters.patient.start(try envelope(file.open()))
        let part = Int(CAMARB_WRITER_PART_MAX)
        let bytes = (0..<2 * part + 1).map { UInt8(truncatingIfNeeded: $0 / 7) }
        writer.put(bytes, at: 5)
        #expect(writer.answer() == nil)
        #expect(try file.bytes() == [0, 0, 0, 0, 0] + bytes)
    }

    @Test("One that does not answer is given up when its time is over, and not before", arguments: [Int64(1), 5])
    func hangs(_ patience: Int64) throws {
        let limit = patience * 2_000_000_000
        // It stands still until there is something to wait for; then its time is nearly over, and in the end it is.
        var (looks, isStopped) = (0, false)
        let house = FileWriters(patience: patience) {
            guard isStopped else { return 0 }
            looks += 1
            return looks <= 2 ? 0 : looks <= 20 ? limit - 1 : limit
        }
        let file = try TemporaryFile()
        var (writer, process): (FileWriter?, Int32) = try writer(house, file)
        #expect(kill(process, SIGSTOP) == 0)
        isStopped = true
        writer?.put([1], at: 0)
        #expect(writer?.answer() == .stuck)
        #expect((21...22).contains(looks), "given up at look \(looks)")
        // For good: nothing more is taken, nor waited for.
        #expect(writer?.answer() == .stuck)
        writer = nil
        // It was killed, and a stopped process dies of that: the next file is begun.
        _ = try self.writer(house, file)
    }

    @Test("With four that hang no further file is begun, until one of them is back")
    func fourHang() throws {
        var now: Int64 = 0
        let house = FileWriters { now }
        let files = try (0..<FileWriters.stuckMax).map { _ in try TemporaryFile() }
        var stopped: [Int32] = []
        // A stopped process is not reaped, so that its number stays its own.
        defer { for process in stopped { kill(process, SIGKILL) } }
        for file in files {
            let (writer, process) = try writer(house, file)
            #expect(kill(process, SIGSTOP) == 0)
            stopped.append(process)
            // It is let go here.
            withExtendedLifetime(writer) {}
        }
        let further = try TemporaryFile()
        now = FileWriter.answerTimeMax - 1
        _ = try writer(house, further)
        now += 1
        #expect(throws: FileFault.tooManyStuck) { _ = try house.start(try envelope(further.open())) }
        kill(stopped.removeLast(), SIGCONT)
        while true {
            do {
                _ = try house.start(try envelope(further.open()))
                return
            } catch FileFault.tooManyStuck { usleep(1000) }
        }
    }

    @Test("One whose process ends says so, and the next has a process of its own")
    func ends() throws {
        let house = FileWriters.patient
        let file = try TemporaryFile()
        let (writer, process) = try writer(house, file)
        #expect(kill(process, SIGKILL) == 0)
        writer.put([1], at: 0)
        #expect(writer.answer() == .gone)
        _ = try self.writer(house, file)
    }

    @Test("An envelope with nothing in it, or with what is no file, is unsuitable or an error")
    func envelopes() throws {
        let house = FileWriters.patient
        var ours: Int32 = -1
        var empty: Int32 = -1
        #expect(camarb_packet_pair(&ours, &empty) == 0)
        close(ours)
        let nothing = try house.start(empty)
        #expect(nothing.answer() == .system(ENODATA))
        let file = try TemporaryFile()
        for (path, flags) in [
            ("/dev/null", O_WRONLY), ("/tmp", O_RDONLY | O_DIRECTORY), (file.path, O_RDONLY),
            (file.path, O_WRONLY | O_APPEND),
        ] {
            let unsuitable = try house.start(try envelope(open(path, flags | O_CLOEXEC)))
            #expect(unsuitable.answer() == .unsuitable, "\(path), \(flags)")
        }
    }
}
