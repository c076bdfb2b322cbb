// SPDX-License-Identifier: Apache-2.0

/// The command line.
struct Options {
  var isQuick = false
  /// USB on the faked usbfs of the tests.
  var isFaked = false
  var jsonPath: String?
  var cliPath = "../.build/release/bridge-cli"
  /// Groups to run; all when empty.
  var groups: [String] = []

  static let usage = """
    usage: bridge-bench [--quick] [--faked] [--json FILE] [--cli PATH] [GROUP …]

      --quick       shorter runs; the figures are less sure
      --faked       usb: on a faked usbfs, without root and without USB, as when no GROUP is given
      --json FILE   the result as JSON as well
      --cli PATH    the bridge-cli whose start is measured; ../.build/release/bridge-cli unless given
      GROUP         what to measure: \(Suite.groups.map(\.name).joined(separator: ", ")); everything unless given
    """

  init(_ arguments: ArraySlice<String>) throws(Failure) {
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--faked": isFaked = true
      case "--json": jsonPath = try Self.value(of: argument, &rest)
      case "--cli": cliPath = try Self.value(of: argument, &rest)
      default:
        guard Suite.groups.contains(where: { $0.name == argument }) else { throw Failure(Self.usage) }
        groups.append(argument)
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
    guard let value = rest.popFirst() else { throw Failure("\(option) needs a value\n\n\(usage)") }
    return value
  }
}
