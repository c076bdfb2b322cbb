// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import ArgumentParser
import CommandOutput
import Glibc

/// Tells of errors, and ends with the exit status that they have.
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
    if isInterrupted, let signal = Interruption.signal { return ExitStatus.of(signal: signal) }
    let report: ErrorReport
    switch error {
    case let error as AccessoryError: report = ErrorReport(error)
    case let error as ResolutionError: report = ErrorReport(error)
    case let error as UsageError: report = ErrorReport(error)
    default: return Self.report(parsing: error)
    }
    report.tell(asJSON: (command as? any JSONCommand)?.output.json == true, program: BridgeCLI.name)
    return report.exitStatus
  }

  /// Tells ArgumentParser's own errors, and shows the help that was asked for; returns the exit status.
  static func report(parsing error: any Error) -> CInt {
    let status = BridgeCLI.exitCode(for: error).rawValue
    // There is no command to ask whether it was to print JSON.
    let options = CommandLine.arguments.prefix { $0 != "--" }
    guard status == ExitStatus.usage, options.contains("--json") else { BridgeCLI.exit(withError: error) }
    let report = ErrorReport(UsageError(BridgeCLI.message(for: error)))
    report.tell(asJSON: true, program: BridgeCLI.name)
    return report.exitStatus
  }
}

extension ErrorReport {
  /// Of a text that names no device, or several.
  fileprivate init(_ error: ResolutionError) {
    switch error {
    case .ambiguous, .malformed: self.init(UsageError(error.description))
    case .noDevices, .noMatch, .noUnit: self.init(AccessoryError(.notFound, error.description))
    }
  }
}
