// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

typealias SeededGenerator = TestSupport.SeededGenerator

/// However `stream` is cut in pieces, the codec finds the same in it.
func expectSameForAnyCuts<Codec: FrameCodec>(
  _ codec: Codec, _ stream: [UInt8], everyCut: Bool = true, pauses: Bool = false,
  location: SourceLocation = #_sourceLocation
) where Codec.Header: Hashable {
  let cut = cutThatMatters(codec, stream, everyCut: everyCut, pauses: pauses)
  #expect(cut == nil, sourceLocation: location)
}
