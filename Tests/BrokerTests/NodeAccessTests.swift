import Broker
import BusTesting
import Glibc
import Testing

@Suite("Users and groups that may open a camera's node without asking")
struct NodeAccessTests {
    private static let names: NodeAccess.Names = (
        user: { [0: "root", 990: "camarb", 1000: "alice"][$0] ?? "\($0)" },
        group: { [0: "root", 44: "video", 990: "camarb"][$0] ?? "\($0)" },
        members: { $0 == 990 ? ["camarb", "alice"] : [] }
    )
    private static let strict: NodeAccess.Names = (user: names.user, group: names.group, members: { _ in [] })

    @Test("A node of root's and the broker's group is out of others' hands; everything that lets them in is named")
    func rights() {
        let members = (1...7).map { "user\($0)" }
        let many: NodeAccess.Names = (user: Self.names.user, group: Self.names.group, members: { _ in members })
        for (owner, group, mode, hasList, names, said) in [
            (0, 990, 0o660, false, Self.strict, nil), (0, 990, 0o600, false, Self.strict, nil),
            (0, 0, 0o660, false, Self.strict, nil), (990, 990, 0o600, false, Self.strict, nil),
            (0, 44, 0o600, false, Self.strict, nil),
            (0, 990, 0o666, false, Self.strict, "everybody may open /dev/video0"),
            (0, 990, 0o664, false, Self.strict, "everybody may open /dev/video0"),
            (0, 990, 0o660, true, Self.strict, "/dev/video0 has an access list, by which certain users may open it"),
            (0, 44, 0o660, false, Self.strict, "group “video” may open /dev/video0"),
            (1000, 990, 0o600, false, Self.strict, "user “alice” may open /dev/video0"),
            (0, 990, 0o660, false, Self.names, "alice may open /dev/video0, being in group “camarb”"),
            (
                0, 990, 0o660, false, many,
                "user1, user2, user3, user4 and 3 more may open /dev/video0, being in group “camarb”"
            ),
        ] as [(UInt32, UInt32, UInt32, Bool, NodeAccess.Names, String?)] {
            let rights = NodeAccess.Rights(owner: owner, group: group, mode: mode, hasAccessList: hasList)
            #expect(NodeAccess.bypass("/dev/video0", rights, broker: (990, 990), names) == said)
        }
    }

    @Test("The rights of a real file are read as they are")
    func real() throws {
        let file = try Scratch("")
        #expect(chmod(file.path, 0o640) == 0)
        let rights = try #require(NodeAccess.Rights(ofPath: file.path))
        #expect(rights.mode == 0o640 && rights.owner == geteuid() && !rights.hasAccessList)
        #expect(NodeAccess.Rights(ofPath: file.path + ".none") == nil)
    }
}
