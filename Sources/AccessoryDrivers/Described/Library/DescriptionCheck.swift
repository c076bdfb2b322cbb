// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Runs a description's examples, and says which of them aren't so.
public enum DescriptionCheck {
  /// What isn't as the examples say, with their lines in `file`; empty when all is.
  public static func problems(in described: DescribedProtocol, file: String) -> [ProfileProblem] {
    do throws(FramingParameterError) {
      return try ExampleCheck(described.description).problems().map {
        ProfileProblem(file: file, line: $0.line, column: nil, message: $0.message)
      }
    } catch {
      return [ProfileProblem(file: file, line: nil, column: nil, message: "there can be no such frames: \(error)")]
    }
  }
}
