import Arbiter
public import ArbiterProtocol
public import TomlFile

/// Reads policy files: TOML text to a `Policy`, or all problems, each with its place.
///
/// The format is `docs/policy.md`. A policy is read as a whole or not at all. Safe to call from any thread. Names of
/// users and groups become numbers by the `accounts` of the caller: those of a machine, or none, so that no name means
/// anybody.
public enum PolicyFile {
    /// - Parameters:
    /// - file: its name in problems.
    /// - includes: the text is that of a file `file`, and may include others.
    public static func parse(
        _ text: String, file: String, includes: Bool = false, accounts: any Accounts = NoAccounts()
    ) throws(FileProblems) -> Policy {
        try policy(loader(text, file, includes: includes), accounts).policy
    }

    /// The same, with the places of its parts.
    public static func read(_ text: String, file: String) throws(FileProblems) -> LoadedPolicy {
        try policy(loader(text, file), NoAccounts())
    }

    /// Reads a policy from a regular file of at most `FileBounds.bytesMax` bytes, with its includes. A file that cannot
    /// be read is a problem without a line.
    public static func load(path: String, accounts: any Accounts = NoAccounts()) throws(FileProblems) -> Policy {
        try load(path: path, dropIns: nil, accounts: accounts).policy
    }

    /// The same, with the `*.toml` of a folder over it, in the order of their names.
    /// - Parameter dropInsRequired: a missing folder is a problem, and not one without drop-ins.
    public static func load(
        path: String, dropIns folder: String?, dropInsRequired: Bool = true, accounts: any Accounts = NoAccounts()
    ) throws(FileProblems) -> LoadedPolicy {
        try policy(loader(path, folder, dropInsRequired: dropInsRequired), accounts)
    }

    /// All problems of a policy file and its drop-ins, or else all suspicious parts of the policy: rules that can never
    /// match or that earlier ones hide, ranks that no rule gives, and names that no account of a machine has. `nil` for
    /// a clean policy.
    public static func check(
        path: String, dropIns folder: String? = nil, accounts: (any Accounts)? = nil
    ) -> FileProblems? { check(loader(path, folder, dropInsRequired: true), accounts) }

    /// The same of a text.
    public static func check(
        _ text: String, file: String, includes: Bool = false, accounts: (any Accounts)? = nil
    ) -> FileProblems? { check(loader(text, file, includes: includes), accounts) }

    private static func loader(_ text: String, _ file: String, includes: Bool = false) -> PolicyLoader {
        var loader = PolicyLoader()
        loader.read(Array(text.utf8), name: file, includesFrom: includes ? file : nil)
        return loader
    }

    private static func loader(_ path: String, _ dropIns: String?, dropInsRequired: Bool) -> PolicyLoader {
        var loader = PolicyLoader()
        loader.read(path: path)
        if let dropIns { loader.readDropIns(dropIns, mayBeMissing: !dropInsRequired) }
        return loader
    }

    private static func check(_ loader: PolicyLoader, _ accounts: (any Accounts)?) -> FileProblems? {
        do throws(FileProblems) {
            let loaded = try policy(loader, accounts ?? NoAccounts())
            if let root = loader.merged {
                PolicyAnalysis.run(loaded.policy, root, loader.problems, looksForAccounts: accounts != nil)
            }
            return loader.problems.all
        } catch { return error }
    }

    private static func policy(_ loader: PolicyLoader, _ accounts: any Accounts) throws(FileProblems) -> LoadedPolicy {
        guard let root = loader.merged else {
            throw loader.problems.all
                ?? FileProblems([FileProblem(file: "", line: 0, column: 0, message: "nothing was read")])
        }
        var reader = PolicyReader(root, accounts: accounts, problems: loader.problems)
        let policy = reader.policy()
        if let all = loader.problems.all { throw all }
        return LoadedPolicy(policy, root, loader.problems, files: loader.fileNames)
    }
}
