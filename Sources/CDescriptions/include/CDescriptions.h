// SPDX-License-Identifier: Apache-2.0
//
// The descriptions that come with the package. They are the files in Descriptions, which the compiler embeds.
#ifndef CDESCRIPTIONS_H
#define CDESCRIPTIONS_H

#include <stddef.h>

/// A file of Descriptions.
struct embedded_description {
  /// The file's name, without .yaml.
  const char *name;
  /// What is in it, with a zero behind.
  const char *text;
};

/// The description at this place, from 0 on, in the order of their names; NULL behind the last one.
const struct embedded_description *embedded_description_at(size_t index);

#endif
