// SPDX-License-Identifier: Apache-2.0

/// A `HeaderFormat` that was checked, with all that reading it needs.
struct HeaderLayout: Sendable {
  let format: HeaderFormat
  let maximumPayload: Int
  /// The longest frame, in bytes.
  let maximumFrame: Int

  private let headerEngine: ChecksumEngine?
  private let payloadEngine: ChecksumEngine?

  init(_ format: HeaderFormat, maximumPayload: Int) throws(FramingParameterError) {
    try format.validate(maximumPayload: maximumPayload)
    self.format = format
    self.maximumPayload = maximumPayload
    maximumFrame = format.headerByteCount + maximumPayload + format.trailerByteCount(payload: maximumPayload)
    headerEngine = format.headerChecksum.map { ChecksumEngine($0.checksum) }
    payloadEngine = format.payloadChecksum.map { ChecksumEngine($0.checksum) }
  }

  /// Whether a header has a checksum of its own, so that a good one can be believed what length it announces.
  var isVouchedFor: Bool { headerEngine != nil }

  /// What the header at some place says.
  enum Reading {
    /// It is none.
    case noHeader
    /// It is one that announces a payload of this length, in bytes.
    case header(payload: Int)
    /// It is of another version; the length is in bytes, too.
    case otherVersion(payload: Int)
    /// It announces a length that cannot be.
    case impossibleLength
  }

  /// The first index from `start` on where the sync bytes are, or as many of them as there are bytes left; else the
  /// span's count.
  func firstSync(in bytes: RawSpan, from start: Int) -> Int {
    let sync = format.sync
    var index = start
    while true {
      index =
        sync.count == 1
        ? ByteSearch.firstIndex(of: sync[0], in: bytes, from: index)
        : ByteSearch.firstPair(sync[0], sync[1], in: bytes, from: index)
      let end = min(sync.count, bytes.byteCount - index)
      var matched = min(2, end)
      while matched < end, bytes.byte(at: index + matched) == sync[matched] { matched += 1 }
      if matched == end { return index }
      index += 1
    }
  }

  /// Reads the header at `index`, all bytes of which are in `bytes`, behind good sync bytes.
  func read(_ bytes: RawSpan, at index: Int) -> Reading {
    if let headerEngine, let field = format.headerChecksum {
      let covered = bytes.extracting((index + field.covers.lowerBound)..<(index + field.covers.upperBound))
      let found = headerEngine.value(headerEngine.advance(headerEngine.start, over: covered))
      let stated = bytes.integer(at: index + field.offset, byteCount: headerEngine.byteCount, field.byteOrder)
      if found != stated { return .noHeader }
    }
    let length = format.length
    let value = bytes.integer(at: index + length.offset, byteCount: length.byteCount, length.byteOrder)
    guard let payload = format.payloadByteCount(lengthValue: Int(value)) else {
      return isVouchedFor ? .impossibleLength : .noHeader
    }
    if let version = format.version, (bytes.byte(at: index + version.offset) ^ version.value) & version.mask != 0 {
      return isVouchedFor ? .otherVersion(payload: payload) : .noHeader
    }
    return .header(payload: payload)
  }

  /// The length of a frame with a payload of `payload` bytes.
  @inline(__always)
  func frameByteCount(payload: Int) -> Int {
    format.headerByteCount + payload + format.trailerByteCount(payload: payload)
  }

  /// Whether the payload of the frame at `index`, all of which is in `bytes`, matches its checksum.
  ///
  /// With `checkpoints`, bytes that were read before are not read again; `base` is the position of the first byte.
  func isIntact(
    _ bytes: RawSpan, at index: Int, payload: Int, base: Int, checkpoints: inout ChecksumCheckpoints,
    usesCheckpoints: Bool
  ) -> Bool {
    guard let payloadEngine, let field = format.payloadChecksum else { return true }
    if payload == 0, !field.isPresentIfEmpty { return true }
    let payloadStart = index + format.headerByteCount
    let payloadEnd = payloadStart + payload
    var state = payloadEngine.start
    if !field.coveredHeader.isEmpty {
      let covered = field.coveredHeader
      state = payloadEngine.advance(
        state, over: bytes.extracting((index + covered.lowerBound)..<(index + covered.upperBound)))
    }
    let range = payloadStart..<payloadEnd
    state =
      usesCheckpoints
      ? checkpoints.advance(state, over: range, in: bytes, base: base, payloadEngine)
      : payloadEngine.advance(state, over: bytes.extracting(range))
    let offset =
      switch field.position {
      case .behindPayload: payloadEnd
      case .inHeader(let offset): index + offset
      }
    return payloadEngine.value(state)
      == bytes.integer(at: offset, byteCount: payloadEngine.byteCount, field.byteOrder)
  }

  /// Fills in what the header of the frame at `start` of `output` needs, and appends payload and checksum.
  ///
  /// The header's bytes are already there. The payload's length was checked.
  func complete(_ output: inout [UInt8], at start: Int, payload: RawSpan) {
    for (index, byte) in format.sync.enumerated() { output[start + index] = byte }
    let length = format.length
    let value = format.lengthValue(payload: payload.byteCount) ?? 0
    output.set(
      UInt32(truncatingIfNeeded: value), at: start + length.offset, byteCount: length.byteCount, length.byteOrder)
    // One in the header may be covered by the header's checksum, one behind the payload may cover that.
    if case .inHeader(let offset) = format.payloadChecksum?.position, let field = format.payloadChecksum {
      output.set(
        payloadChecksum(output.span.bytes, at: start, payload), at: start + offset,
        byteCount: field.checksum.byteCount, field.byteOrder)
    }
    if let headerEngine, let field = format.headerChecksum {
      let covered = (start + field.covers.lowerBound)..<(start + field.covers.upperBound)
      let state = headerEngine.advance(headerEngine.start, over: output.span.bytes.extracting(covered))
      output.set(
        headerEngine.value(state), at: start + field.offset, byteCount: headerEngine.byteCount, field.byteOrder)
    }
    let trailer = format.trailerByteCount(payload: payload.byteCount)
    let check = trailer > 0 ? payloadChecksum(output.span.bytes, at: start, payload) : 0
    output.append(contentsOf: payload)
    if trailer > 0, let field = format.payloadChecksum {
      output.append(check, byteCount: trailer, field.byteOrder)
    }
  }

  /// What the payload's checksum is, with the header at `start` of `bytes`.
  private func payloadChecksum(_ bytes: RawSpan, at start: Int, _ payload: RawSpan) -> UInt32 {
    guard let payloadEngine, let field = format.payloadChecksum else { return 0 }
    if payload.isEmpty, !field.isPresentIfEmpty { return 0 }
    let covered = field.coveredHeader
    let header = bytes.extracting((start + covered.lowerBound)..<(start + covered.upperBound))
    return payloadEngine.value(
      payloadEngine.advance(payloadEngine.advance(payloadEngine.start, over: header), over: payload))
  }
}
