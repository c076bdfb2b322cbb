// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The pages are run as they are printed: files are written, command lines are given to a shell at a terminal, and what
/// comes is compared with what the page shows.
@Suite("Commands in the documentation", .timeLimit(.minutes(Patience.minutes(10)))) struct PageRunTests {
  @Test(arguments: PageScript.all) func thePageIsTrue(_ script: PageScript) async throws {
    try await Sandbox.with { box in
      var seat = PageSeat(script, box)
      try await seat.prepare()
      try await seat.work()
      try await seat.leave()
    }
  }

  /// What no test can run says so by its kind, and has its reason here.
  @Test func everyBlockHasItsKind() throws {
    #expect(PageScript.all.count > 15)
    for page in try Page.all(in: "Documentation", ".md") + [Page("README.md")] {
      for block in page.blocks {
        #expect(Self.kinds[block.kind] != nil, "\(page.name): \(block.kind): \(block.lines.first ?? "")")
        if block.kind == "sh" {
          #expect(Self.notRun[page.name] != nil, "\(page.name) has commands that are not run, and no reason is known")
        }
        if block.kind != "console" && block.kind != "sh" {
          #expect(!block.lines.contains { $0.hasPrefix("$ ") }, "\(page.name): a block of commands is \"console\"")
        }
      }
    }
  }

  /// The kinds of blocks, and what becomes of them.
  private static let kinds = [
    "console": "run here", "swift": "compiled by PageTests", "yaml": "written here, and read by the tests of profiles",
    "sh": "not run: why, is in notRun", "text": "drawings, and what is said once more in other words", "ini": "units",
    "c": "AF1's own tests", "mermaid": "a drawing", "json": "what a program reads",
  ]

  /// Why the `sh` blocks of a page are not run.
  private static let notRun = [
    "Documentation/alarms.md": "a script for a desktop; AlarmTests run one of their own",
    "Documentation/autostart.md": "it sets up udev and systemd, as the lab's tests do",
    "Documentation/ble-batteries.md": "it needs an adapter and a pack, which AirCommandTests pretend",
    "Documentation/bluetooth.md": "it needs an adapter, which only the lab has: Tests/Lab/Bluetooth/story",
    "Documentation/containers.md": "it starts containers",
    "Documentation/console.md": "somebody sits at it: ConsoleInTmuxTests",
    "Documentation/describing-tutorial.md": "it sets the system up, as StoryTests of the lab do",
    "Documentation/esphome.md": "it needs a node: Tests/Peers/ESPHome plays one",
    "Documentation/fleet.md": "it needs a broker, and Home Assistant on another machine",
    "Documentation/home-assistant.md": "it installs Avahi, and starts the system's service: HomeAssistantTests",
    "Documentation/identify.md": "it is answered by a person: IdentifyTests",
    "Documentation/mdns.md": "it asks Avahi, and other machines",
    "Documentation/metrics.md": "it opens ports of its own, and starts the system's service: ExportTests",
    "Documentation/network.md": "it starts the system's service",
    "Documentation/nut.md": "NUT's port may be taken, and systemd's units are started: ExportTests",
    "Documentation/packages.md": "it builds packages and installs them: make deb-test",
    "Documentation/phone-app.md": "it needs an adapter and a phone",
    "Documentation/power.md": "it looks at real adapters, and starts the system's service",
    "Documentation/profiles.md": "it looks at a real adapter",
    "Documentation/raspberry-pi.md": "it builds packages, and installs them on another machine",
    "Documentation/replay.md": "a program of one's own is tried, as ReplayCommandTests do with ours",
    "Documentation/service.md": "a script, run by ServiceTests",
    "Documentation/rfc2217.md": "a real board at a real port, and the port of another machine: Tests/Peers",
    "Documentation/setup.md": "a person answers it, and it sets the system up: SetupCommandTests, and the lab",
    "Documentation/sharing.md": "it opens a port to the network, and starts the system's services",
    "Documentation/system-batteries.md": "it needs a laptop's battery, which UdevMockTests pretend",
    "Documentation/top.md": "somebody sits at it: TopTests",
    "Documentation/tls.md": "it needs another machine",
    "Documentation/units.md": "it looks at real adapters",
    "Documentation/ups.md": "it needs a UPS: the lab's UPSTests plug a simulated one in",
    "README.md": "it builds and installs",
    "Documentation/web.md": "it opens ports of its own, and starts the system's service: WebTests",
  ]
}
