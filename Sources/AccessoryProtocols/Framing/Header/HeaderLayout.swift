// SPDX-License-Identifier: Apache-2.0

/// A `HeaderFormat` whose parameters were checked, with everything that is needed to read and write its headers.
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
    payloadEngine = format.payloadChecksum.map { ChecksumEngine($0.checksum, shifts: true) }
  }

  /// Whether headers have a checksum of their own, so that the length in a header with the right checksum can be
  /// trusted.
  var hasHeaderChecksum: Bool { headerEngine != nil }

  /// The result of reading a header.
  enum Reading {
    /// There is no header.
    case noHeader
    /// A header that announces a payload of this length, in bytes.
    case header(payload: Int)
    /// A header of another version, which announces a payload of this length, in bytes.
    case otherVersion(payload: Int)
    /// A header that announces an impossible length.
    case impossibleLength
  }

  /// The first index from `start` on at which the sync bytes are, or as many of them as there are bytes left; otherwise
  /// the span's count.
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

  /// Reads the header at `index`. The sync bytes are right, and the whole header is in `bytes`.
  func read(_ bytes: RawSpan, at index: Int) -> Reading {
    if let headerEngine, let field = format.headerChecksum {
      let covered = bytes.extracting((index + field.covers.lowerBound)..<(index + field.covers.upperBound))
      let found = headerEngine.value(headerEngine.advance(headerEngine.start, over: covered))
      let stated = bytes.integer(at: index + field.offset, byteCount: headerEngine.byteCount, field.byteOrder)
      if found != stated { return .noHeader }
    }
    let length = format.length
    let value = bytes.integer(at: index + length.offset, byteCount: length.byteCount, length.byteOrder)
    guard let payload = Int(exactly: value).flatMap({ format.payloadByteCount(lengthValue: $0) }) else {
      return hasHeaderChecksum ? .impossibleLength : .noHeader
    }
    if let version = format.version, (bytes.byte(at: index + version.offset) ^ version.value) & version.mask != 0 {
      return hasHeaderChecksum ? .otherVersion(payload: payload) : .noHeader
    }
    return .header(payload: payload)
  }

  /// The length of a frame with a payload of `payload` bytes.
  @inline(__always)
  func frameByteCount(payload: Int) -> Int {
    format.headerByteCount + payload + format.trailerByteCount(payload: payload)
  }

  /// Whether the payload of the frame at `index`, which is wholly in `bytes`, has the right checksum.
  ///
  /// If `usesCheckpoints`, bytes that were read before are not read again. `base` is the position of the first byte of
  /// `bytes`.
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

  /// Fills in the computed fields of the header at `start` of `output`, and appends the payload and its checksum.
  ///
  /// The header's bytes must be in `output`, and the payload's length must have been checked.
  func complete(_ output: inout [UInt8], at start: Int, payload: RawSpan) {
    for (index, byte) in format.sync.enumerated() { output[start + index] = byte }
    let length = format.length
    let value = format.lengthValue(payload: payload.byteCount) ?? 0
    output.set(
      UInt32(truncatingIfNeeded: value), at: start + length.offset, byteCount: length.byteCount, length.byteOrder)
    // The payload's checksum comes first if it is in the header, as the header's checksum may cover it. It comes last
    // if it is behind the payload, as it may cover the header's checksum.
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

  /// The checksum of the payload, for the header at `start` of `bytes`.
  private func payloadChecksum(_ bytes: RawSpan, at start: Int, _ payload: RawSpan) -> UInt32 {
    guard let payloadEngine, let field = format.payloadChecksum else { return 0 }
    if payload.isEmpty, !field.isPresentIfEmpty { return 0 }
    let covered = field.coveredHeader
    let header = bytes.extracting((start + covered.lowerBound)..<(start + covered.upperBound))
    return payloadEngine.value(
      payloadEngine.advance(payloadEngine.advance(payloadEngine.start, over: header), over: payload))
  }
}
