// SPDX-License-Identifier: Apache-2.0

/// Seconds since the beginning of 2001, which Foundation doesn't define on Linux.
@_exported import typealias CoreFoundation.CFAbsoluteTime
/// Now, in seconds since the beginning of 2001.
@_exported import func CoreFoundation.CFAbsoluteTimeGetCurrent
/// A number of seconds.
@_exported import typealias CoreFoundation.CFTimeInterval
