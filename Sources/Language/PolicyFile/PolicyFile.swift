import Arbiter
public import ArbiterProtocol
public import TomlFile

/// Reads policy files: TOML text to a `Policy`, or everything that is wrong with it, each with its place.
///
/// The format is `docs/policy.md`. A policy is read as a whole or not at all: none comes out of files with a
/// problem. Safe to call from any thread.
///
/// Names of users and groups become numbers here, by the `accounts` that the caller has: those of a machine, or none, so
/// that no name means anybody. What takes no accounts asks nobody.
public enum PolicyFile {
    /// Reads a policy from text. `file` is what problems call it. Such a text includes no files, unless
    /// `includes` says that it is what stands, or is to stand, in that file.
    public static func parse(
        _ text: String, file: String, includes: Bool = false, accounts: any Accounts = NoAccounts()
    ) throws(FileProblems) -> Policy {
        var loader = PolicyLoader()
        loader.read(Array(text.utf8), name: file, includesFrom: includes ? file : nil)
        return try policy(loader, accounts).policy
    }

    /// The same, with where each part stands in the text.
    public static func read(_ text: String, file: String) throws(FileProblems) -> LoadedPolicy {
        var loader = PolicyLoader()
        loader.read(Array(text.utf8), name: file, includesFrom: nil)
        return try policy(loader, NoAccounts())
    }

    /// Reads a policy from a regular file of at most `FileBounds.bytesMax` bytes, with what it includes.
    /// A file that cannot be read is a problem without a line.
    public static func load(path: String, accounts: any Accounts = NoAccounts()) throws(FileProblems) -> Policy {
        try load(path: path, dropIns: nil, accounts: accounts).policy
    }

    /// The same, with the `*.toml` of a folder over it, in the order of their names.
    ///
    /// - Parameter dropInsRequired: a folder that is not there is a problem, and not one without drop-ins.
    public static func load(
        path: String, dropIns folder: String?, dropInsRequired: Bool = true, accounts: any Accounts = NoAccounts()
    ) throws(FileProblems) -> LoadedPolicy {
        var loader = PolicyLoader()
        loader.read(path: path)
        if let folder { loader.readDropIns(folder, mayBeMissing: !dropInsRequired) }
        return try policy(loader, accounts)
    }

    /// Everything that is wrong with a policy file and its drop-ins, or else everything suspicious about the policy:
    /// rules that can never match or that earlier ones hide, ranks that no rule gives, and, of a machine's accounts, names
    /// that nobody bears. Nil when it is clean.
    public static func check(
        path: String, dropIns folder: String? = nil, accounts: (any Accounts)? = nil
    ) -> FileProblems? {
        var loader = PolicyLoader()
        loader.read(path: path)
        if let folder { loader.readDropIns(folder, mayBeMissing: false) }
        return check(loader, accounts)
    }

    /// The same of a text.
    public static func check(
        _ text: String, file: String, includes: Bool = false, accounts: (any Accounts)? = nil
    ) -> FileProblems? {
        var loader = PolicyLoader()
        loader.read(Array(text.utf8), name: file, includesFrom: includes ? file : nil)
        return check(loader, accounts)
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
        return LoadedPolicy(policy, root, loader.problems.texts, files: loader.fileNames)
    }
}
