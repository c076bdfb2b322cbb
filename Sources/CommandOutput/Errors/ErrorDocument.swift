// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An error, for `--json`.
package struct ErrorDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.error
  let error: PublishedError

  package init(_ report: ErrorReport) {
    error = PublishedError(
      kind: report.kind, report.message, code: report.code, exitStatus: report.exitStatus)
  }
}
