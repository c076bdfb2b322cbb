// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibqrencode

/// Prints the key of the native API: as text and, on a terminal, as a QR code.
package struct KeyView: Sendable {
  private let json: Bool

  package init(json: Bool) { self.json = json }

  /// Prints a key that the user has asked for.
  package func show(_ key: String) {
    guard !json else { return Output.json(KeyDocument(key: key)) }
    Output.line(key)
    guard Style.standardOutput.showsColour else { return }
    if let code = Self.code(key) {
      Output.text("\n" + code)
    } else {
      Output.note("a QR code of it needs libqrencode: sudo apt install libqrencode4")
    }
  }

  /// Prints a key that was made now. Where standard error isn't a terminal it may be a log that others read: then it says how to show the key.
  package func tellNew(_ key: String) {
    Output.note(
      Style.standardError.isTerminal
        ? "a new key was made, for which Home Assistant asks: \(key)"
        : "a new key was made, for which Home Assistant asks; show it with: bridge-cli export home-assistant --show-key"
    )
  }

  /// The code in half blocks, black on white, since a scanner needs dark modules on a light ground; nil without the library. A margin of
  /// two modules is enough on a screen.
  private static func code(_ text: String) -> String? {
    var modules = [UInt8](repeating: 0, count: 177 * 177)
    let width = Int(shim_qr_code(text, &modules, CInt(modules.count)))
    guard width > 0 else { return nil }
    func isDark(_ row: Int, _ column: Int) -> Bool {
      (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column] == 1
    }
    let margin = 2
    return stride(from: -margin, to: width + margin, by: 2).map { row in
      let line = (-margin..<width + margin).map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[38;5;16;48;5;231m\(line.joined())\u{1B}[0m\n"
    }.joined()
  }
}

/// The key of the native API: `export home-assistant --show-key --json`.
struct KeyDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.key
  let key: String
}
