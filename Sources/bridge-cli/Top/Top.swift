// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

extension TopSort: ExpressibleByArgument {}

struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Shows all accessories on one screen that follows them.",
    discussion: """
      One row for each accessory: its charge, voltage, current and values, how old its reading is, and what it does. The \
      arrows select one, and Enter shows everything about it: its cells, its values and its last hours. F1 shows all \
      keys; q quits.

      A mark before the name says what to look at: !! an alarm, ! a warning, ? a reading that is older than it should be, \
      + being opened, - away. The arrow behind the charge says whether the battery is charged or discharged.

      If a service runs, top shows its accessories. Otherwise it opens those that a profile fits, and acts as their \
      service until it ends, as attach does.

      Colours are left out if NO_COLOR is set, and other characters than ASCII if the locale isn't UTF-8.

      EXAMPLES
        bridge-cli top
        bridge-cli top --sort alarm
        bridge-cli top --filter attached
      """)

  @Option(help: ArgumentHelp("Sort by name, charge, age or alarm.", valueName: "order"))
  var sort = TopSort.name
  @Option(help: ArgumentHelp("Show only accessories that have these words in their row or facts.", valueName: "words"))
  var filter: String = ""
  @Flag(help: .hidden)
  var json = false

  /// What to use where a screen is no use.
  private static let alternatives =
    "bridge-cli battery --all shows all batteries once, list --json everything that is known, and watch --json what happens"

  func validate() throws {
    if json { throw ValidationError("top has no --json: it is a screen for people. \(Self.alternatives)") }
  }

  func run() async throws {
    try TopSession.checkTerminal(Self.alternatives)
    let (places, held) = try await TopServices.find()
    let feed = ServiceTopFeed(places, isOwn: held != nil)
    let session = try TopSession(
      feed, TopModel(title: held == nil ? "bridge-cli top" : "bridge-cli top (no service)", sort: sort, filter: filter))
    let following = Task { await feed.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await session.run()) } catch { result = .failure(error) }
    following.cancel()
    await following.value
    // The lines are closed before the command ends.
    await held?.end()
    try result.get()
  }
}
