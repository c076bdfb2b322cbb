// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Synchronization
import Testing

@testable import AccessoryControl
@testable import BridgeService

/// To whom an accessory is lent, and what the borrower may.
@Suite struct LendingTests {
  private func caller(process: Int32 = 7, user: UInt32 = 1_000) -> Caller {
    Caller(peer: SocketPeer(process: process, user: user, groups: []))
  }

  @Test func theHolderIsNamed() {
    var lending = Lending()
    #expect(lending.holder == nil)
    lending.begin(for: caller())
    #expect(lending.holder == "process 7")
    var neighbour = Lending()
    neighbour.begin(with: lending)
    #expect(neighbour.holder == "process 7")
    #expect(lending.end() == "process 7" && lending.holder == nil)
    #expect(lending.end() == "its client", "who ends twice does no harm")
    lending.begin(for: caller(process: 0))
    #expect(lending.holder == "a client", "a process of another namespace has no number here")
  }

  @Test func onlyItsBorrowerMeansALoanAndOnlyWhileItLasts() {
    var lending = Lending()
    lending.begin(for: caller())
    #expect(lending.loan(meantBy: "", from: caller()) == nil)
    let loan = lending.opened(for: caller(), line: nil) {}
    #expect(loan.secret.utf8.count == 32)
    #expect(lending.loan(meantBy: loan.secret, from: caller()) === loan)
    #expect(lending.loan(meantBy: loan.secret, from: caller(process: 9)) === loan, "another process of that user may")
    #expect(lending.loan(meantBy: loan.secret, from: caller(user: 1_001)) == nil)
    #expect(lending.loan(meantBy: String(loan.secret.reversed()) + "0", from: caller()) == nil)
    _ = lending.end()
    #expect(lending.loan(meantBy: loan.secret, from: caller()) == nil)
  }

  @Test func revokingClosesWhatIsOpen() {
    let closed = Atomic(0)
    var lending = Lending()
    lending.revoke()
    lending.begin(for: caller())
    lending.revoke()
    #expect(closed.load(ordering: .relaxed) == 0, "nothing is open yet")
    _ = lending.opened(for: caller(), line: nil) { closed.add(1, ordering: .relaxed) }
    lending.revoke()
    #expect(closed.load(ordering: .relaxed) == 1)
  }

  @Test func whatHasNoLineSaysSo() async {
    var lending = Lending()
    lending.begin(for: caller())
    let loan = lending.opened(for: caller(), line: nil) {}
    let error = await #expect(throws: AccessoryError.self) {
      try await loan.withLine(at: "/dev/x") { _ throws(AccessoryError) in }
    }
    #expect(error?.kind == .unsupported && error?.message == "/dev/x has no serial line")
  }
}
