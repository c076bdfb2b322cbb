// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Console

/// The findings of `doctor`, for people: all findings of ports with a problem, and one line for all other ports.
package enum DoctorView {
  /// A port that was checked.
  package struct Patient: Sendable {
    package let report: PortReport
    /// The state of its accessory in the service that has it open; nil if no service has.
    package let holder: Bridge.AttachmentState?

    /// Creates a port with the state of its accessory.
    package init(_ report: PortReport, holder: Bridge.AttachmentState? = nil) {
      (self.report, self.holder) = (report, holder)
    }

    /// Whether it has no problem and no other program uses it through the service.
    package var isWell: Bool { holder != .lent && report.findings.allSatisfy { $0.severity == .ok } }
  }

  /// With `details`, ports without problems are shown as well. `columns` is the terminal's width; nil without a terminal.
  package static func lines(
    _ patients: [Patient], details: Bool = false, _ style: Style = .standardOutput, columns: Int? = nil
  ) -> [String] {
    if patients.isEmpty {
      return wrapped(
        "No serial port and no accessory found. Is the cable plugged in, and the driver loaded (dmesg)?", columns)
    }
    let shown = patients.filter { details || !$0.isWell }
    let well = patients.filter { !details && $0.isWell }
    return shown.flatMap { findings($0.report, style, columns) }
      + (well.isEmpty ? [] : wrapped(summary(well, isRest: !shown.isEmpty), columns))
  }

  private static func findings(_ report: PortReport, _ style: Style, _ columns: Int?) -> [String] {
    [style.bold(SafeText.escape(report.path, limit: 200))]
      + report.findings.flatMap { finding in
        let mark =
          switch finding.severity {
          case .ok: style.green("ok      ")
          case .warning: style.yellow("warning ")
          case .problem: style.red("problem ")
          }
        let subject = finding.subject + String(repeating: " ", count: max(0, 12 - finding.subject.count))
        return wrapped("  \(mark) \(subject)  \(SafeText.escape(finding.message, limit: 800))", columns, indent: 25)
      }
  }

  /// "Nothing stands in the way of 7 ports, and the service has 3 open: …". `isRest` means that ports with problems were listed
  /// before.
  private static func summary(_ well: [Patient], isRest: Bool) -> String {
    // For a network address, this is all that is known.
    if well.count == 1, well[0].report.findings.count == 1, let finding = well[0].report.findings.first {
      return SafeText.escape(finding.message, limit: 800)
    }
    func name(_ patients: [Patient]) -> String {
      if patients.count == 1 { return SafeText.escape(patients[0].report.path, limit: 200) }
      return "\(patients.count)\(isRest ? " other" : "") ports"
    }
    let (held, free) = (well.filter { $0.holder != nil }, well.filter { $0.holder == nil })
    var parts: [String] = []
    if !free.isEmpty { parts.append("nothing stands in the way of \(name(free))") }
    if !held.isEmpty { parts.append("the service has \(name(held)) open, and commands go through it") }
    let text = parts.joined(separator: "; ")
    return text.prefix(1).uppercased() + text.dropFirst() + ". --details shows all checks."
  }

  private static func wrapped(_ text: String, _ columns: Int?, indent: Int = 2) -> [String] {
    guard let columns else { return [text] }
    return TextWrap.lines(text, columns: columns, indent: columns < 60 ? min(indent, 4) : indent)
  }
}
