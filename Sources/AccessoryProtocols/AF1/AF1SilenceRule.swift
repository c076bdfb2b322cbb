// SPDX-License-Identifier: Apache-2.0

/// Which frames behind an unfinished one an `AF1Codec` delivers when the line falls silent.
public typealias AF1SilenceRule = SilenceRule
