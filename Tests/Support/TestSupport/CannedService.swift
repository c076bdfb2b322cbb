// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import SystemPackage

/// A service that answers each method with the bytes that a test gives, whatever they are: what no server of this
/// package would send.
public final class CannedService: Sendable {
  /// The methods that were called, without their interface.
  public let calls = Watched<[String]>([])
  private let listener: FileDescriptor
  private let answers: [String: [String]]
  private let connections = Locked<[FileDescriptor]>([])

  /// Clients at a time, each of which has a thread.
  private static let clientLimit = 32

  /// Answers at `path`. `answers` are the parameters of the answers to each method, by its name without the interface;
  /// all but the last are told to be followed by more, and behind the last of several the connection is closed. What is
  /// not there is answered as a method that doesn't exist. Of an answer that begins with "!" the rest is sent as it is.
  /// Those of "Method parameter" are for calls that have this parameter.
  public init(at path: String, _ answers: [String: [String]]) throws {
    self.answers = answers
    listener = try UnixSocket.create(blocking: true)
    try UnixSocket.bind(listener, to: path)
    try Socket.listen(listener, backlog: 16)
    let listener = listener
    DispatchQueue(label: "test.canned").async { [weak self] in
      while true {
        let client = Glibc.accept(listener.rawValue, nil, nil)
        guard client >= 0, let self else { return }
        guard self.connections.withLock({ $0.count }) < Self.clientLimit else {
          Glibc.close(client)
          continue
        }
        self.connections.withLock { $0.append(FileDescriptor(rawValue: client)) }
        DispatchQueue(label: "test.canned.client").async { self.serve(client) }
      }
    }
  }

  /// Ends it and its connections.
  public func close() {
    // accept(2) and read(2) return; the descriptors stay until their threads are done with them.
    shutdown(listener.rawValue, CInt(SHUT_RDWR))
    for client in connections.withLock({ $0 }) { shutdown(client.rawValue, CInt(SHUT_RDWR)) }
  }

  private func serve(_ client: CInt) {
    defer {
      connections.withLock { $0.removeAll { $0.rawValue == client } }
      Glibc.close(client)
    }
    var splitter = MessageSplitter(limit: 1 << 20)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(client, &buffer, buffer.count)
      guard count > 0 else { return }
      buffer.withUnsafeBytes { splitter.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      while case .message(let message) = splitter.next() {
        guard let json = try? JSON(message), let call = try? CallMessage(json) else { return }
        let name = String(call.method.split(separator: ".").last ?? "")
        calls.update { $0.append(name) }
        let special = call.parameters.keys.sorted().lazy.compactMap { self.answers["\(name) \($0)"] }.first
        guard let texts = special ?? answers[name] else {
          guard write(ReplyMessage(.methodNotFound(call.method)).bytes, to: client) else { return }
          continue
        }
        for (index, text) in texts.enumerated() {
          let more = index + 1 < texts.count ? #","continues":true"# : ""
          let answer = text.first == "!" ? String(text.dropFirst()) : #"{"parameters":\#(text)\#(more)}"#
          guard write(Array(answer.utf8) + [0], to: client) else { return }
        }
        if texts.count > 1 { return }
      }
    }
  }

  private func write(_ bytes: [UInt8], to client: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
