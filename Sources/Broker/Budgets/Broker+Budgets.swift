import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Loop
import Machine

/// Charging clients' users for what they have, and giving back what they had.
extension Broker {
    /// - Parameter advice: what the client can do about a refusal, as a sentence.
    func charge(
        _ resource: Budgets.Resource, _ amount: Int = 1, to client: BrokerClient, _ advice: String
    ) throws(BrokerError) {
        do throws(Budgets.Refusal) {
            try budgets.charge(resource, amount, to: client.uid)
        } catch {
            throw BrokerError(.limitExceeded, "\(error.sentence) \(advice)")
        }
    }

    func release(_ resource: Budgets.Resource, _ amount: Int, of client: BrokerClient) {
        budgets.release(resource, amount, of: client.uid)
        if freed.note(resource, amount, at: EventLoop.now) { giveBackSoon() }
    }

    /// Who holds a camera is heard among the first, and has a part of each budget in any case.
    func noteHolders() {
        budgets.holders = Set(cameraOrder.compactMap { $0.holder?.user })
        let holding = Set(
            cameraOrder.compactMap { arbiter.status(of: $0.camera)?.holder }.compactMap {
                owners[$0.rawValue]?.client.id
            })
        for client in clients.values {
            let isFirst = isTrusted(client) || holding.contains(client.id)
            if client.connection.account.isFirst != isFirst {
                client.connection.account = .user(client.uid, isFirst: isFirst)
            }
        }
    }

    private func giveBackSoon() {
        if freed.timer == nil { freed.timer = try? loop.addTimer { [unowned self] in giveBack() } }
        freed.timer?.arm(at: freed.nextTime(at: EventLoop.now))
    }

    private func giveBack() {
        freed.wasGivenBack(at: EventLoop.now)
        camarb_give_back_heap()
    }

    /// What the asker may know of the budgets: its own user's part; who is trusted, everybody's and the sums.
    func budgetUses(for client: BrokerClient) -> [BudgetUse] {
        func uses(of user: UInt32) -> [BudgetUse] {
            Budgets.Resource.allCases.map { resource in
                BudgetUse(
                    user: user, resource: resource.wireName, used: UInt64(budgets.use(of: user, resource)),
                    most: UInt64(budgets.most(of: user, resource)))
            }
            .filter { $0.used > 0 }
        }
        guard isTrusted(client) else { return uses(of: client.uid) }
        let sums = Budgets.Resource.allCases.map { resource in
            BudgetUse(
                user: nil, resource: resource.wireName, used: UInt64(budgets.useOfAll(resource)),
                most: UInt64(budgets.bound(resource).inAll))
        }
        return sums + budgets.users.prefix(Self.shownUsersMax).flatMap(uses)
    }

    /// Users that a status lists budgets of: as many as people use a machine, and the answer stays short.
    static let shownUsersMax = 64

    // MARK: Until the cameras are known

    /// A broker that has just started does not know its cameras yet. Questions about them wait, a little, in their order.
    /// - Parameter camera: the only one that it is about: who has it reserved does not wait for slower ones.
    func whenCamerasKnown(
        _ client: BrokerClient, about camera: CameraID? = nil, _ work: @escaping () -> Void
    ) throws(BrokerError) {
        if camerasKnownTimer == nil && untilCamerasKnown.isEmpty { return work() }
        if let camera, cameras[camera]?.isKnown == true, logins?.isSettled != false { return work() }
        try charge(.questions, to: client, "The cameras are being asked what they are; ask again in a moment.")
        untilCamerasKnown.append((client, work))
    }

    func cameraBecameKnown() {
        if cameraOrder.allSatisfy(\.isKnown), logins?.isSettled != false { camerasAreKnown() }
    }

    /// When the last recorder core has left for want of work, the broker has been idle for seconds, and is likely to be
    /// for longer: what serving took is given back, half of the memory it has.
    func recorderLeft() {
        if cameraOrder.allSatisfy(\.isAtRest) { camarb_give_back_start() }
    }

    func camerasAreKnown() {
        guard camerasKnownTimer != nil else { return }
        camerasKnownTimer = nil
        answerWaiting()
        ServiceManager.status(statusLine)
        camarb_give_back_start()
    }

    /// Questions answered in one turn of the loop, which has others to serve between.
    static let answersPerTurnMax = 4

    private func answerWaiting() {
        for (client, work) in untilCamerasKnown.prefix(Self.answersPerTurnMax) {
            release(.questions, 1, of: client)
            work()
        }
        untilCamerasKnown.removeFirst(min(Self.answersPerTurnMax, untilCamerasKnown.count))
        if !untilCamerasKnown.isEmpty { loop.defer { [unowned self] in answerWaiting() } }
    }

    /// Nobody waits for the answers any more, and their messages go.
    func forgetQuestions(of client: BrokerClient) {
        let before = untilCamerasKnown.count
        if before == 0 { return }
        untilCamerasKnown.removeAll { $0.client === client }
        release(.questions, before - untilCamerasKnown.count, of: client)
    }
}

extension Budgets.Refusal {
    /// The flag behind the bound, for the operator who reads the journal.
    var flag: String {
        switch which {
        case .ceiling: " (--max-connections-per-user)"
        case .share, .whole: " (--max-connections)"
        }
    }
}
