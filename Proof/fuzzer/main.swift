// Looks for bytes with which a target breaks a promise: libFuzzer, with AddressSanitizer. See fuzz/run.
//
// usage: fuzzer TARGET [libFuzzer's own arguments…]
import CFuzzer
import FuzzTargets
import Glibc

/// Set once, before the first run.
nonisolated(unsafe) private var target = FuzzTarget.policy

guard CommandLine.arguments.count > 1, let wanted = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
    let usage = "usage: fuzzer TARGET [ARGUMENTS]; the targets are \(names)\n"
    _ = write(STDERR_FILENO, usage, usage.utf8.count)
    exit(2)
}
target = wanted
FuzzTarget.isAlone()
var arguments = [CommandLine.arguments[0], "-max_len=\(wanted.bytesMax)"] + CommandLine.arguments.dropFirst(2)
// libFuzzer keeps the list for as long as the process lives.
var list: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
var count = Int32(arguments.count)
let status = list.withUnsafeMutableBufferPointer { buffer in
    var base = buffer.baseAddress
    return LLVMFuzzerRunDriver(&count, &base) { bytes, size in
        target.run(Array(UnsafeBufferPointer(start: bytes, count: size)))
        return 0
    }
}
exit(status)
