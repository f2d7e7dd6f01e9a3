import Arbiter
import Foundation
import PolicyFile
import ReferenceArbiter
import Testing

/// `policies/android.toml` beside the rules that it is written after, opening by opening.
@Suite struct AndroidTests {
    /// `CAMARB_OPENINGS` asks for another number.
    private static var wanted: Int {
        #if DEBUG
            let usual = 5000
        #else
            let usual = 100_000
        #endif
        return ProcessInfo.processInfo.environment["CAMARB_OPENINGS"].flatMap(Int.init) ?? usual
    }

    /// Long enough that cameras are taken, lost and given back many times, short enough for many worlds.
    private static let openingsOfAWorld = 100

    @Test("Every opening in random worlds ends as Android's rules say, with the same evictions")
    func agrees() throws {
        let policy = try Checkout.policy("android.toml")
        let wanted = Self.wanted
        var (openings, granted, evicted, differ) = (0, 0, 0, 0)
        var seed: UInt64 = 0
        while openings < wanted {
            seed += 1
            var world = AndroidWorld(policy, seed: seed)
            world.run(openings: min(Self.openingsOfAWorld, wanted - openings))
            openings += world.openings
            granted += world.granted
            evicted += world.evicted
            if let difference = world.difference {
                differ += 1
                if differ == 1 { Issue.record("seed \(seed): \(difference)") }
            }
        }
        print("compared \(openings) openings, \(differ) differ (\(granted) granted, \(evicted) evictions)")
        #expect(differ == 0)
        // Worlds in which nobody meets would show nothing.
        #expect(granted > openings / 4 && granted < openings)
        #expect(evicted > openings / 10)
    }

    @Test("The values of android.toml are Android's names, in the order of Android's numbers")
    func names() throws {
        let policy = try Checkout.policy("android.toml")
        #expect(Set(policy.attributes.map(\.name)) == Set(AndroidCameras.numbers.keys))
        for attribute in policy.attributes {
            let numbers = try #require(AndroidCameras.numbers[attribute.name])
            #expect(attribute.values == numbers.sorted { $0.value < $1.value }.map(\.key))
        }
    }
}
