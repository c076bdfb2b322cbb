// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport

/// A reply to a browser: its first bytes, and a source of further ones.
package struct WebReply: Sendable {
  var bytes: [UInt8]
  var following: (@Sendable () async -> [UInt8]?)?

  /// The size of a piece of a long reply. A client that reads slowly has one piece in memory, not the whole reply.
  static let pieceSize = 16_384

  /// Header fields of every reply: browsers must load nothing from elsewhere, run no inline script, store nothing, and not show the
  /// page in a frame.
  static let fields = fields(forms: "'none'", referrer: "no-referrer")
  /// The header fields of a page with forms.
  private static let formFields = fields(forms: "'self'", referrer: "same-origin")

  private static func fields(forms: String, referrer: String) -> [String] {
    [
      "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action \(forms); frame-ancestors 'none'",
      "X-Frame-Options: DENY", "Referrer-Policy: \(referrer)", "Cross-Origin-Opener-Policy: same-origin",
      "Cross-Origin-Resource-Policy: same-origin",
      "Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=(), serial=(), usb=()",
      "Cache-Control: no-store",
    ]
  }

  /// A complete reply; with `isHead`, without its body.
  static func whole(
    _ body: [UInt8], type: String, status: String = "200 OK", fields: [String] = fields, isHead: Bool
  ) -> WebReply {
    let head = Array(HTTPAnswer.head(status, type: type, count: body.count, fields: fields).utf8)
    if isHead { return WebReply(bytes: head) }
    if body.count <= pieceSize { return WebReply(bytes: head + body) }
    let rest = Locked(body[...])
    return WebReply(bytes: head) {
      rest.withLock { rest in
        guard !rest.isEmpty else { return nil }
        let piece = Array(rest.prefix(pieceSize))
        rest = rest.dropFirst(pieceSize)
        return piece
      }
    }
  }

  /// A page. With `hasForms`, it may send forms to this server, with its own address as the referrer.
  static func page(_ html: String, status: String = "200 OK", hasForms: Bool = false, isHead: Bool) -> WebReply {
    whole(
      Array(html.utf8), type: "text/html; charset=utf-8", status: status, fields: hasForms ? formFields : fields,
      isHead: isHead)
  }

  /// A stream of events.
  static func events(isHead: Bool, _ following: @escaping @Sendable () async -> [UInt8]?) -> WebReply {
    let head = HTTPAnswer.head(type: "text/event-stream", count: nil, fields: fields + ["X-Accel-Buffering: no"])
    return WebReply(bytes: Array(head.utf8), following: isHead ? nil : following)
  }

  /// A refusal. It reveals nothing about accessories.
  static func refusal(
    _ refusal: HTTPRequest.Refusal, _ advice: String? = nil, fields more: [String] = []
  ) -> WebReply {
    WebReply(bytes: Array(HTTPAnswer.refusal(refusal, advice, fields: fields + more).utf8))
  }

  /// A redirect, for example to the same address with its last slash.
  static func moved(to path: String, status: String = "308 Permanent Redirect") -> WebReply {
    WebReply(
      bytes: Array(
        HTTPAnswer.head(
          status, type: "text/plain; charset=utf-8", count: 0, fields: fields + ["Location: \(path)"]
        ).utf8))
  }
}
