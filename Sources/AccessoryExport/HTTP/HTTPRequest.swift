// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The head of an HTTP/1 request (RFC 9112). It understands only what our servers need and refuses anything doubtful.
package struct HTTPRequest: Sendable, Hashable {
  /// The longest head, in bytes, including the empty line at its end.
  package static let limit = 8_192

  /// GET or HEAD; also POST, where the server takes one.
  package var method: String
  /// The path, without a query. Not decoded.
  package var path: String
  /// What follows the first question mark of the target; empty without one. Not decoded.
  package var query = ""
  /// The requested host, with its port.
  package var host: String
  /// The media types that the client accepts.
  package var accept = ""
  /// The client's credentials, with their scheme; nil without any.
  package var authorization: String?
  /// Whose page makes a browser send the request (`Sec-Fetch-Site`), and for what (`Sec-Fetch-Mode`); nil from others.
  package var (fetchSite, fetchMode): (String?, String?)
  /// The origin of the page that makes a browser send the request; nil from others.
  package var origin: String?
  /// The length of the body in bytes, and its media type; 0 and empty without one.
  package var (contentLength, contentType) = (0, "")

  /// Why a request is refused. The raw value is the HTTP status.
  package enum Refusal: Int, Error, Hashable {
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case lengthRequired = 411
    case contentTooLarge = 413
    case unsupportedMediaType = 415
    case misdirectedRequest = 421
    case tooManyRequests = 429
    case headTooLarge = 431
    case versionNotSupported = 505

    /// What the status means, in the words of HTTP.
    package var phrase: String {
      switch self {
      case .badRequest: "Bad Request"
      case .unauthorized: "Unauthorized"
      case .forbidden: "Forbidden"
      case .tooManyRequests: "Too Many Requests"
      case .notFound: "Not Found"
      case .methodNotAllowed: "Method Not Allowed"
      case .requestTimeout: "Request Timeout"
      case .lengthRequired: "Length Required"
      case .unsupportedMediaType: "Unsupported Media Type"
      case .contentTooLarge: "Content Too Large"
      case .misdirectedRequest: "Misdirected Request"
      case .headTooLarge: "Request Header Fields Too Large"
      case .versionNotSupported: "HTTP Version Not Supported"
      }
    }
  }

  /// Reads a head, including the empty line at its end. `bodyLimit` is the length of the longest body of a POST, in bytes; nil
  /// where there is no POST.
  package init(head: [UInt8], bodyLimit: Int? = nil) throws(Refusal) {
    guard head.suffix(4).elementsEqual([13, 10, 13, 10]) else { throw .badRequest }
    var lines: [ArraySlice<UInt8>] = []
    var start = head.startIndex
    var index = start
    while index < head.count - 2 {
      // Lines end with CR LF. Neither byte may appear elsewhere.
      if head[index] == 13 {
        guard head[index + 1] == 10 else { throw .badRequest }
        lines.append(head[start..<index])
        index += 2
        start = index
      } else {
        guard head[index] != 10, head[index] != 0 else { throw .badRequest }
        index += 1
      }
    }
    guard let first = lines.first else { throw .badRequest }
    let words = first.split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, let version = Self.text(words[2]), let target = Self.text(words[1]),
      let method = Self.text(words[0]), !method.isEmpty, method.utf8.allSatisfy(Self.isToken)
    else {
      throw .badRequest
    }
    guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
      throw version.hasPrefix("HTTP/") ? .versionNotSupported : .badRequest
    }
    guard target.hasPrefix("/") else { throw .badRequest }
    self.method = method
    path = String(target.prefix { $0 != "?" })
    query = String(target.dropFirst(path.count + 1))

    var host: String?
    var (length, isChunked): (String?, Bool) = (nil, false)
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line[..<colon].allSatisfy(Self.isToken), let name = Self.text(line[..<colon])?.lowercased()
      else {
        throw .badRequest
      }
      guard let value = Self.text(Self.trimmed(line[line.index(after: colon)...])) else { throw .badRequest }
      switch name {
      case "host":
        guard host == nil else { throw .badRequest }
        host = value
      case "accept": accept += (accept.isEmpty ? "" : ",") + value
      case "authorization":
        guard authorization == nil else { throw .badRequest }
        authorization = value
      case "sec-fetch-site": fetchSite = value
      case "sec-fetch-mode": fetchMode = value
      case "origin":
        guard origin == nil else { throw .badRequest }
        origin = value
      case "content-type": contentType = value
      case "transfer-encoding": isChunked = true
      case "content-length":
        guard length == nil || length == value else { throw .badRequest }
        length = value
      default: break
      }
    }
    guard let host, !host.isEmpty else { throw .badRequest }
    self.host = host
    switch method {
    case "GET", "HEAD": if isChunked || length ?? "0" != "0" { throw .contentTooLarge }
    case "POST":
      guard let bodyLimit else { throw .methodNotAllowed }
      guard let length, !isChunked else { throw .lengthRequired }
      guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .badRequest }
      guard let count = Int(length), count <= bodyLimit else { throw .contentTooLarge }
      contentLength = count
    default: throw .methodNotAllowed
    }
  }

  /// Whether a browser sends this for a page of the server that it is sent to. Browsers always name the origin of a POST; where they
  /// also say whose page it is (`Sec-Fetch-Site`), a proxy may have changed the host, but to one of `hosts`.
  package func isOfSameOrigin(_ hosts: HostNames) -> Bool {
    guard let origin, let end = origin.firstRange(of: "://") else { return false }
    let port: String
    switch origin[..<end.lowerBound].lowercased() {
    case "http": port = ":80"
    case "https": port = ":443"
    default: return false
    }
    let its = origin[end.upperBound...].lowercased()
    if let fetchSite { return fetchSite == "same-origin" && hosts.allow(its) }
    func plain(_ text: String) -> String { text.hasSuffix(port) ? String(text.dropLast(port.count)) : text }
    return plain(its) == plain(host.lowercased())
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } ? String(validating: bytes, as: UTF8.self) : nil
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
    return bytes
  }

  private static func isToken(_ byte: UInt8) -> Bool { byte.isLetterOrDigit(or: "!#$%&'*+-.^_`|~") }
}
