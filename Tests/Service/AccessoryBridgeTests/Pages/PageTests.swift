// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3
import FamilyEV3Simulator
import TestSupport
import Testing

/// What the pages show of Swift is compiled with the tests, to the letter.
@Suite("Swift in the documentation", .timeLimit(.minutes(Patience.minutes(3)))) struct PageTests {
  /// Manifests of other packages; and code that needs `ExternalAccessory`, which its own tests have.
  private func isElsewhere(_ snippet: [Substring]) -> Bool {
    snippet.contains { $0.hasPrefix(".target(") || $0.hasPrefix(".testTarget(") || $0 == "import ExternalAccessory" }
  }

  @Test func everySnippetIsCompiled() throws {
    let folders = [
      "Examples/BatteryWatch", "Examples/OwnGadget", "Tests/Units/AccessoryTestingTests",
      "Tests/Service/AccessoryBridgeTests/Pages",
    ]
    let sources = try folders.flatMap { try Page.all(in: $0, ".swift") }
    let pages = try Page.all(in: "Documentation", ".md") + [Page("README.md")]
    var count = 0
    for page in pages {
      for snippet in page.snippets where !isElsewhere(snippet) {
        count += 1
        #expect(sources.contains { $0.contains(snippet) }, "\(page.name): \(snippet.first ?? "")")
      }
    }
    #expect(count > 10)
  }

  /// Documentation/trace.md: the frames of a gadget, in its own words.
  @Test func thePagesSnippetReadsFramesOfAGadget() throws {
    let format = HeaderFormat(sync: [0xA5], headerByteCount: 3, length: .init(offset: 1, byteCount: 1))
    let codec = try HeaderCodec(format, maximumPayload: 64)
    var bytes: [UInt8] = []
    try codec.encode(HeaderBytes(0x07, at: 2), payload: [0x41, 0x42], into: &bytes)
    let entries = PageSnippets.frames(
      codec,
      [
        TraceRecord(time: .zero, direction: .toDevice, bytes: bytes),
        TraceRecord(time: .seconds(1), direction: .fromDevice, bytes: bytes + [1, 2]),
      ])
    let words = entries.compactMap { if case .frame(let words) = $0.content { words } else { nil } }
    #expect(words.map(\.title) == ["command 7", "command 7"] && words.map(\.protocol) == ["Gadget", "Gadget"])
    #expect(words.first?.summary == "2 bytes |AB|" && entries.map(\.direction).prefix(2) == [.toDevice, .fromDevice])
  }

  /// Documentation/swift.md: what is there comes first, and cancelling ends it.
  @Test func thePagesSnippetFollowsChangesUntilItIsCancelled() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let accessories = place.accessories
    let watching = Task { try await PageSnippets.changes(of: accessories) }
    await simulator.unplug()
    watching.cancel()
    try await watching.value
    await simulator.stop()
  }

  /// Documentation/ev3.md
  @Test func thePagesSnippetReadsABricksBattery() async throws {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    let simulator = EV3Simulator(configuration)
    let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
    #expect(try await PageSnippets.brick(session) == 100)
    await simulator.stop()
  }
}
