// Package schema checks values against JSON Schemas, where both come from guests or their callers. Schemas refer to
// nothing outside themselves, and the work is bounded: in bytes, in depth, in the size of patterns and numbers, and in
// steps.
//
// It is a leaf that every package may import: the sandbox checks parameters and answers of tools with it, and the
// gateway what people respond with, within a [Budget]. Start with [Fits].
package schema
