// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import ArgumentParser
import Glibc

/// A mistake in how the command was used, found after its arguments were read.
struct UsageError: Error, CustomStringConvertible {
  var description: String
}

/// Tells of errors, and which exit status they have (sysexits.h).
enum Failure {
  /// Tells the error, as JSON if the command was asked for that, and returns the exit status.
  ///
  /// Of a command that was interrupted nothing is told, unless that is not what ended it.
  static func report(
    _ error: any Error, of command: any ParsableCommand, isInterrupted: Bool = true
  ) -> CInt {
    // Commands that go on until they are interrupted end so, and that is no failure.
    if error is CancellationError { return EXIT_SUCCESS }
    if let failure = error as? RecordingFailure { return report(failure.error, of: command, isInterrupted: false) }
    if isInterrupted, let signal = Interruption.signal { return 128 + signal }
    let status: CInt
    let document: ErrorDocument.Details
    switch error {
    case let error as AccessoryError:
      status = exitStatus(error.kind)
      document = .init(error, exitStatus: status)
    case let error as ResolutionError:
      switch error {
      case .ambiguous, .malformed: status = EX_USAGE
      case .noDevices, .noMatch: status = EX_NOINPUT
      }
      document = .init(kind: status == EX_USAGE ? "usage" : "not_found", message: error.description, exitStatus: status)
    case let error as UsageError:
      status = EX_USAGE
      document = .init(kind: "usage", message: error.description, exitStatus: status)
    default:
      return report(parsing: error)
    }
    if (command as? any JSONCommand)?.output.json == true {
      Output.json(ErrorDocument(error: document))
    } else {
      Output.error(document.message)
    }
    return status
  }

  /// Tells ArgumentParser's own errors, and shows the help that was asked for; returns the exit status.
  static func report(parsing error: any Error) -> CInt {
    let status = BridgeCLI.exitCode(for: error).rawValue
    // There is no command to ask whether it was to print JSON.
    let options = CommandLine.arguments.prefix { $0 != "--" }
    guard status == EX_USAGE, options.contains("--json") else { BridgeCLI.exit(withError: error) }
    let message = BridgeCLI.message(for: error)
    Output.json(ErrorDocument(error: .init(kind: "usage", message: message, exitStatus: status)))
    return status
  }

  /// The exit status of an error of this kind.
  static func exitStatus(_ kind: AccessoryError.Kind) -> CInt {
    switch kind {
    case .disconnected, .busy, .cancelled, .unsupported: EX_UNAVAILABLE
    case .permissionDenied: EX_NOPERM
    case .notFound: EX_NOINPUT
    case .timedOut: EX_TEMPFAIL
    case .refused: EX_PROTOCOL
    case .badData: EX_DATAERR
    case .misconfigured: EX_CONFIG
    case .ioFailure: EX_IOERR
    }
  }
}
