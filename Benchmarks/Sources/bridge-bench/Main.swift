// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory
import Glibc

@main
enum Main {
  /// The main run loop runs, as in a program with delegates on it: under an asynchronous `main` there would be none.
  static func main() {
    Task.detached {
      await run()
      exit(0)
    }
    RunLoop.main.run()
  }

  private static func run() async {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      let machine = Machine()
      print(machine.text)
      if let warning = machine.warning { print(warning) }
      var rows: [Row] = []
      for group in Suite.groups
      where options.groups.isEmpty || options.groups.contains(group.name) {
        note("measuring \(group.name) …")
        rows += try await group.run(options)
      }
      print("", Table.text(rows), separator: "\n", terminator: "")
      if let path = options.jsonPath {
        try Document(quick: options.isQuick, machine: machine, rows: rows).write(to: path)
      }
    } catch {
      note("bridge-bench: \(error)")
      exit(1)
    }
  }
}
