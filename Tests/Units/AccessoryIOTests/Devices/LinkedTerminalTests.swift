// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryIO

/// A link that is left of a program that is gone, and leads to another program's pseudo-terminal.
@Suite struct LinkedTerminalTests {
  private let folder: TemporaryDirectory
  private var link: String { folder.path + "/acc" }

  init() throws { folder = try TemporaryDirectory() }

  private func open(_ terminal: TestTerminal, link: String?) async throws(AccessoryError) {
    var configuration = TerminalConfiguration(path: terminal.path)
    configuration.link = link
    try await DescriptorTransport.open(configuration).close()
  }

  @Test func anOldLinkIsNotOpenedUntilMadeAgain() async throws {
    let (own, another) = (try openPseudoTerminal(), try openPseudoTerminal())
    try #require(symlink(own.path, link) == 0)
    try await open(own, link: link)
    try await open(own, link: link)

    // As if the kernel had given the number of the first terminal to the other one.
    let error = await #expect(throws: AccessoryError.self) { try await open(another, link: link) }
    #expect(error?.kind == .notFound)
    #expect(error?.message.contains("\(link) is an old link") == true)

    // The same terminal without the link is what the user asks for.
    try await open(another, link: nil)

    unlink(link)
    try #require(symlink(another.path, link) == 0)
    try await open(another, link: link)
  }
}
