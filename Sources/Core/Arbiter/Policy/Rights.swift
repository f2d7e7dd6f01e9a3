import Vocabulary

/// A policy's `[access]` as numbers that are found quickly.
struct CompiledRights: Sendable {
    let seat: Bool
    let demandsStrong: Bool
    let asks: Bool
    private let users: Set<UInt32>
    private let groups: Set<UInt32>
    private let services: Set<String>

    init(_ rights: Rights) {
        seat = rights.seat
        demandsStrong = rights.identity == .strong
        asks = rights.apps == .ask
        users = Set(rights.users.compactMap(\.number))
        groups = Set(rights.groups.compactMap(\.number))
        services = Set(rights.services)
    }

    func names(user: UInt32) -> Bool { users.contains(user) }
    func names(anyOf groups: [UInt32]) -> Bool { !self.groups.isEmpty && groups.contains(where: self.groups.contains) }
    func names(service: String) -> Bool { services.contains(service) }
}
