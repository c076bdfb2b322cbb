// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

/// Runs a description's examples, and reports those that fail.
public enum DescriptionCheck {
  /// The examples that fail, with their lines in `file`; empty when all pass.
  public static func problems(in described: DescribedProtocol, file: String) -> [ProfileProblem] {
    do throws(FramingParameterError) {
      return try ExampleCheck(described.description).problems().map {
        ProfileProblem(file: file, line: $0.line, column: nil, message: $0.message)
      }
    } catch {
      return [ProfileProblem(file: file, message: "the framings are invalid: \(error)")]
    }
  }
}
