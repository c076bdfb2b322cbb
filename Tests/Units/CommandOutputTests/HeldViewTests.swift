// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput
import Testing

/// What people are shown of a service and of what it holds.
@Suite struct HeldViewTests {
  private func held(
    _ state: Bridge.AttachmentState, tries: Int = 0, of limit: Int? = nil, next: Int? = nil, problem: String? = nil
  ) -> Bridge.Accessory {
    var held = Bridge.Accessory(device: Samples.bare, state: state, tries: tries, profile: "lamp")
    (held.tries_limit, held.next_try_ms) = (limit, next)
    held.problem = problem.map { Bridge.Problem(AccessoryError(.timedOut, $0)) }
    return held
  }

  @Test func aHeldAccessorysStateIsToldInWords() {
    #expect(HeldView.state(held(.attached)) == "attached" && HeldView.word(held(.attached)) == "attached")
    let awaited = held(.waiting, tries: 2, of: 3, next: 1_500)
    #expect(HeldView.state(awaited) == "waiting: try 2 of 3 in 1.5 s" && HeldView.word(awaited) == "try 2 of 3")
    let forEver = held(.waiting, tries: 7)
    #expect(HeldView.state(forEver) == "waiting until it is connected again" && HeldView.word(forEver) == "try 7")
    #expect(HeldView.state(held(.waiting)) == "closed until a client sends a request")
    var taking = held(.waiting)
    taking.next_try_ms = 12_000
    #expect(HeldView.word(taking) == "in turns" && taking.isReachable)
    #expect(HeldView.state(taking) == "closed, so that others can be connected: its turn is in 12.0 s")
    #expect(HeldView.word(held(.waiting)) == "waiting" && HeldView.word(held(.failed)) == "failed")
    var lent = held(.lent)
    #expect(HeldView.state(lent) == "lent")
    lent.holder = "a\u{1B}[2J"
    #expect(HeldView.state(lent) == "lent to a\\u{1b}[2J")
  }

  /// One that is closed for want of work can be asked; one that isn't there can't.
  @Test func onlyReachableAccessoriesCanBeAsked() {
    #expect([held(.attached), held(.lent), held(.waiting)].allSatisfy { $0.isReachable })
    #expect(![held(.waiting, tries: 1), held(.opening), held(.failed)].contains { $0.isReachable })
  }

  @Test func factsOfAHeldAccessoryNameProfileAndProblem() {
    let rows = Table.facts(HeldView.facts(held(.failed, tries: 3, problem: "no\u{7}answer")), Samples.pipe)
    #expect(rows == ["Service  failed", "Profile  lamp", "Problem  no\\u{7}answer"])
    var writable = held(.attached, problem: "old")
    (writable.profile, writable.writes) = (nil, .refused)
    #expect(
      Table.facts(HeldView.facts(writable), Samples.pipe) == [
        "Service  attached", "Profile  none", "Writes   refused",
      ])
  }

  @Test func theServiceIsShownAsFactsAndTable() {
    let service = Bridge.GetService.Reply(
      product: "bridge-cli", version: "1.2", process: 7, started: 1_795_337_583, uptime_ms: 7_500_000, accessories: 2,
      attached: 1, clients: 3, limits: .init(accessories: 9, attached: 8, clients: 7, clients_of_one_user: 6))
    #expect(
      Table.facts(ServiceView.facts(service, place: "/run/s"), Samples.pipe) == [
        "Service      bridge-cli 1.2, process 7", "Runs for     2 h 05 min", "Socket       /run/s",
        "Accessories  2 of 9", "Attached     1 of 8", "Clients      3 of 7, 6 of one user",
      ])
    var second = service
    second.readings_socket = "/run/readings"
    #expect(
      Array(Table.facts(ServiceView.facts(second, place: "/run/s"), Samples.pipe)[2...3]) == [
        "Socket       /run/s", "Readings     /run/readings",
      ])
    #expect(ServiceView.table([], Samples.pipe) == [])
    #expect(
      ServiceView.table(
        [held(.attached, problem: "old"), held(.waiting, tries: 1, of: 3, problem: "gone")], Samples.pipe)
        == [
          "ACCESSORY   STATE       PROFILE  PROBLEM", "/dev/ttyS0  attached    lamp     -",
          "/dev/ttyS0  try 1 of 3  lamp     gone",
        ])
    let long = held(.waiting, tries: 1, problem: "it didn't answer within 10 s, and nobody knows why")
    #expect(
      ServiceView.table([long], Samples.pipe, columns: 50) == [
        "ACCESSORY   STATE  PROBLEM", "/dev/ttyS0  try 1  it didn't answer within 10 s,",
        "                   and nobody knows why",
      ])
  }
}
