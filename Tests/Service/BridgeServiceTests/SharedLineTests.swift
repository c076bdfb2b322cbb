// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct SharedLineTests {
  /// A program's bytes may come when it has left and the line was given back: then somebody has to ask for the line again.
  @Test func bytesForALineThatIsNotLentAreReported() async throws {
    let line = SharedLine(io: .shared)
    let feed = ShareFeed(label: "pack", timing: .instant, line: nil, hearsAlways: true)
    let reports = Watched(0)
    await line.add(feed) { reports.update { $0 += 1 } }
    #expect(feed.output.offer(Array("two".utf8)) == .accepted)
    try await reports.wait { $0 == 1 }
    #expect(await line.hasOutput)
  }
}
