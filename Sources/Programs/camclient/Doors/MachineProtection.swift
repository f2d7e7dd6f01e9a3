import Glibc

/// Whether udev keeps the machine's cameras for the broker: two rules of camarb's, which a link to nothing of the same name in /etc
/// switches off, as udev(7) has it.
enum MachineProtection {
    private static let rules = ["72-camarb.rules", "74-camarb.rules"]
    private static let administrators = "/etc/udev/rules.d"
    private static let installed = ["/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/usr/local/lib/udev/rules.d"]
    private static let nothing = "/dev/null"

    static var isInstalled: Bool {
        rules.allSatisfy { rule in installed.contains { access("\($0)/\(rule)", F_OK) == 0 } }
    }

    static var isOn: Bool { isInstalled && rules.contains { target("\(administrators)/\($0)") != nothing } }

    static func set(_ isOn: Bool) throws(Failure) {
        guard isInstalled else {
            throw Failure(
                .answerIsNo, "camarb's rules for udev are not installed: the cameras are as the distribution has them.")
        }
        for rule in rules where !isOn {
            let path = "\(administrators)/\(rule)"
            guard access(path, F_OK) != 0 || target(path) == nothing else {
                throw Failure(.file, "\(path) is an administrator's own; it is left alone, and nothing was changed.")
            }
        }
        for rule in rules {
            let path = "\(administrators)/\(rule)"
            if isOn, target(path) == nothing {
                guard unlink(path) == 0 else { throw Failure.file(path, "cannot be removed", errno) }
            } else if !isOn, target(path) == nil {
                guard mkdir(administrators, 0o755) == 0 || errno == EEXIST, symlink(nothing, path) == 0 else {
                    throw Failure.file(path, "cannot be made", errno)
                }
            }
        }
        try run("udevadm", "control", "--reload")
        // "add", since the distribution's rule gives nodes to their group only then.
        try run(
            "udevadm", "trigger", "--settle", "--action=add", "--subsystem-match=video4linux", "--subsystem-match=media"
        )
    }

    private static func target(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func run(_ words: String...) throws(Failure) {
        var arguments = words.map { strdup($0) } + [nil]
        var environment = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
        defer { for word in arguments + environment { free(word) } }
        var child = pid_t()
        let error = posix_spawnp(&child, words[0], nil, nil, &arguments, &environment)
        guard error == 0 else { throw Failure.file(words[0], "cannot be started", error) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw Failure(
                .file,
                "\(words.joined(separator: " ")) failed; what it said stands above. The rules are switched all the same."
            )
        }
    }
}
