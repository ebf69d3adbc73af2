// Copyright 2026 The pfs_exporter Authors
// SPDX-License-Identifier: Apache-2.0

// Package jobid turns the identifier of a Jobstats entry into an identity:
// whose work the entry counts, in which label values, and how far that can be
// trusted (design.md section 4).
//
// A client builds the identifier from its jobid_name, a template such as
// "%j:%u:%H" (lustre/obdclass/jobid.c, jobid_interpret_string). This package
// reads it backwards: templates are compiled once, every identifier is decoded,
// split by the first format that fits, judged by that format's patterns and
// given a class. Anything may stand in an identifier, since neither environment
// variables nor process names are sanitised by Lustre; every byte sequence has
// an outcome and none is an error.
//
// The rules that keep one user from being charged with another's work are
// collected here, because they are easily loosened by accident:
//
//   - A uid is a whole run of decimal digits, at most 2^32-1, without leading
//     zeros. Templates in which a digit could stand beside it are refused.
//   - A uid that the 31 byte limit may have cut is no uid.
//   - A host never ends in a dot and digits: that is how "%e.%u" ends, and a
//     process may be named like the front of a compute identifier.
package jobid
