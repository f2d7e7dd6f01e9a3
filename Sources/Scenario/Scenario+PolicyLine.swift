public import Arbiter
import PolicyFile

extension Scenario {
    /// A `policy` or `policy-reload` line with the policy itself in it, as a block: for a policy that is in no one file.
    /// Users and groups have their numbers in it, so that it means the same everywhere.
    public static func policyLine(_ command: String, _ policy: Policy) -> String {
        policy == .firstCome ? "\(command) built-in" : "\(command) \(policyBlock(policy))"
    }

    /// The same without the command.
    public static func policyBlock(_ policy: Policy) -> String {
        "\"\"\"\n" + PolicyWriter.text(policy, numbersOnly: true) + "\"\"\""
    }
}
