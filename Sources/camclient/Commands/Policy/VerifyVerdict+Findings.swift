import Arbiter
import ArbiterProtocol
import Exploration
import JSONText

extension PolicyWalk.Fairness {
    var json: JSON {
        .object([
            "worlds": .integer(Int64(worlds)), "worldsInAll": .integer(Int64(worldsInAll)),
            "states": .integer(Int64(states)),
            "transitions": .integer(Int64(transitions)), "cutOffBy": cutOffBy.map { .string($0.rawValue) } ?? .null,
        ])
    }
}

extension CameraStanding {
    var json: JSON {
        .object([
            "camera": .string(camera.name), "at": .string(TimeText.write(at)), "tenancy": .string(tenancy.rawValue),
            "holder": holder?.json ?? .null, "beneficiary": beneficiary?.json ?? .null,
            "waiting": .array(waiting.map(\.json)),
            "deadlines": .array(
                deadlines.map { .object(["at": .string(TimeText.write($0.at)), "what": .string($0.what)]) }),
        ])
    }
}

extension CameraStanding.Bidder {
    fileprivate var json: JSON {
        .object([
            "session": .string(session), "rank": .string(rank), "rankRule": .string(rankRule),
            "rule": rule.map { .string($0) } ?? .null, "behind": behind.map { .string($0) } ?? .null,
        ])
    }
}

extension Repair {
    func json(_ origin: (PolicyChange.Place) -> String?) -> JSON {
        let (part, name) =
            switch change.place {
            case .rule(let name): ("rule", name)
            case .contention(let key): ("contention", key)
            }
        return .object([
            "part": .string(part), "name": .string(name), "origin": origin(change.place).map { .string($0) } ?? .null,
            "change": .string(change.words { _ in nil }), "states": .integer(Int64(states)),
            "worlds": .integer(Int64(worlds)),
            "whole": .bool(isWhole),
        ])
    }
}
