// SPDX-License-Identifier: Apache-2.0

import FleetCommands

@main
enum Main {
  @MainActor static func main() async { await FleetProgram.run() }
}
