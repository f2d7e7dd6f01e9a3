import Broker
import BusTesting
import Glibc
import Testing

@Suite("Users and groups that may open a camera's node without asking")
struct NodeAccessTests {
    private static let names = NodeAccess.Names(
        user: { [0: "root", 990: "camarb", 1000: "alice"][$0] ?? "\($0)" },
        group: { [0: "root", 44: "video", 990: "camarb"][$0] ?? "\($0)" },
        members: { $0 == 990 ? ["camarb", "alice"] : [] })
    private static let strict = NodeAccess.Names(user: names.user, group: names.group, members: { _ in [] })

    private func bypass(
        _ owner: UInt32, _ group: UInt32, _ mode: UInt32, list: Bool = false, names: NodeAccess.Names = strict
    ) -> String? {
        NodeAccess.bypass(
            "/dev/video0", NodeAccess.Rights(owner: owner, group: group, mode: mode, hasAccessList: list),
            broker: (990, 990), names)
    }

    @Test("A node of root's and the broker's group is out of everybody's hands")
    func closed() {
        #expect(bypass(0, 990, 0o660) == nil)
        #expect(bypass(0, 990, 0o600) == nil)
        #expect(bypass(0, 0, 0o660) == nil)
        #expect(bypass(990, 990, 0o600) == nil)
    }

    @Test("Everything that lets others in is named")
    func open() {
        #expect(bypass(0, 990, 0o666) == "everybody may open /dev/video0")
        #expect(bypass(0, 990, 0o664) == "everybody may open /dev/video0")
        #expect(
            bypass(0, 990, 0o660, list: true)
                == "/dev/video0 has an access list, by which certain users may open it")
        #expect(bypass(0, 44, 0o660) == "group “video” may open /dev/video0")
        #expect(bypass(0, 44, 0o600) == nil)
        #expect(bypass(1000, 990, 0o600) == "user “alice” may open /dev/video0")
        #expect(
            bypass(0, 990, 0o660, names: Self.names) == "alice may open /dev/video0, being in group “camarb”")
    }

    @Test("A long list of members is counted at its end")
    func many() {
        let names = NodeAccess.Names(
            user: Self.names.user, group: Self.names.group, members: { _ in (1...7).map { "user\($0)" } })
        #expect(
            bypass(0, 990, 0o660, names: names)
                == "user1, user2, user3, user4 and 3 more may open /dev/video0, being in group “camarb”")
    }

    @Test("The rights of a real file are read as they are")
    func real() throws {
        let file = try Scratch("")
        #expect(chmod(file.path, 0o640) == 0)
        let rights = try #require(NodeAccess.Rights(ofPath: file.path))
        #expect(rights.mode == 0o640)
        #expect(rights.owner == geteuid())
        #expect(!rights.hasAccessList)
        #expect(NodeAccess.Rights(ofPath: file.path + ".none") == nil)
    }
}
